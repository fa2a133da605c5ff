from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="row_softmax",
    version="1.0",
    ext_modules=[CUDAExtension("row_softmax", ["row_softmax.cpp", "row_softmax_kernel.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
