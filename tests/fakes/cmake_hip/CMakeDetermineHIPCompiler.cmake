# A language HIP for tests that configure translated projects: its compiler is the one for C++, nothing of ROCm is asked for.
set(CMAKE_HIP_COMPILER "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "stand-in for the compiler of HIP")
set(CMAKE_HIP_COMPILER_ENV_VAR "HIPCXX")
set(CMAKE_HIP_COMPILE_FEATURES hip_std_11 hip_std_14 hip_std_17 hip_std_20)
set_property(GLOBAL PROPERTY CMAKE_HIP_KNOWN_FEATURES hip_std_11 hip_std_14 hip_std_17 hip_std_20)
file(WRITE "${CMAKE_PLATFORM_INFO_DIR}/CMakeHIPCompiler.cmake" [=[
set(CMAKE_HIP_COMPILER_LOADED 1)
set(CMAKE_HIP_COMPILER_WORKS 1)
set(CMAKE_HIP_COMPILER_ID "Clang")
set(CMAKE_HIP_COMPILER_ENV_VAR "HIPCXX")
set(CMAKE_HIP_SOURCE_FILE_EXTENSIONS hip)
set(CMAKE_HIP_LINKER_PREFERENCE 90)
set(CMAKE_HIP_COMPILE_FEATURES hip_std_11 hip_std_14 hip_std_17 hip_std_20)
]=])
