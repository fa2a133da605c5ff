# What a release is compiled with: clang and libc++ out of the package ziglang, against glibc 2.28, whatever the machine has.
# ANYWARP_TOOLS is the folder of commands that scripts/releasing/toolchain.py writes; they name the machine to compile for.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${ANYWARP_MACHINE})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANYWARP_MACHINE ANYWARP_TOOLS)
set(CMAKE_C_COMPILER ${ANYWARP_TOOLS}/clang)
set(CMAKE_CXX_COMPILER ${ANYWARP_TOOLS}/clang++)
set(CMAKE_ASM_COMPILER ${ANYWARP_TOOLS}/clang)
set(CMAKE_AR ${ANYWARP_TOOLS}/ar)
set(CMAKE_RANLIB ${ANYWARP_TOOLS}/ranlib)
# zig keeps frame pointers unless told otherwise. No debugging information: it would hold paths, and is stripped anyway.
foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG -fomit-frame-pointer" CACHE STRING "")
endforeach()
foreach(kind SHARED MODULE EXE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-Wl,-s")
endforeach()
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK ${ANYWARP_TOOLS}/link)
# A path that is exchanged when a library is installed leaves its length behind.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
