"""An assessment as a summary in words, JSON, SARIF, and a page of HTML: all made from one `Summary`."""
