"""What each PTX instruction must compute, worked out independently of every device of ours, and kernels that ask one."""
