"""What a service needs around its code to leave CUDA: manifests, images, packages and rules converted, with a reason for each change.

A program that runs on another device is not moved until what builds, starts, schedules and watches it is.
"""
