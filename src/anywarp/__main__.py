"""Make `python -m anywarp` the same as the command `anywarp`; useful where the script is not on the path."""

from anywarp.cli.main import main

if __name__ == "__main__":
    main()
