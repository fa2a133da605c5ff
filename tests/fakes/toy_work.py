"""Work for a crew that does to its process what the name of a file tells it to do."""

import os
import time


def begin(order, alive):
    def work(file):
        match file.shown.rpartition(".")[2]:
            case "abort":
                os.abort()
            case "hang":
                time.sleep(60)
            case "eat":
                bytearray(5 << 30)  # of zeros, which cost nothing where there is no limit
            case "raise":
                raise ZeroDivisionError("toy")
            case "slow":
                for _ in range(25):
                    time.sleep(0.1)
                    alive()
        with open(file.place, "rb") as opened:
            return [file.shown, order], opened.read()

    return work
