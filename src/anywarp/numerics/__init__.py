"""Numbers as devices hold them, and how far two right answers may lie apart."""
