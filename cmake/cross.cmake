# A toolchain file: for another processor, with Debian's cross compiler, against what lies in a folder of its own.
#   -DCMAKE_TOOLCHAIN_FILE=cmake/cross.cmake -DSSTORE_CROSS=aarch64 (or s390x) -DSSTORE_CROSS_SYSROOT=FOLDER
# What is built runs under qemu-user, also where ctest calls it. tests/cross.sh makes such a folder and does all this.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SSTORE_CROSS SSTORE_CROSS_SYSROOT)
if(NOT SSTORE_CROSS OR NOT SSTORE_CROSS_SYSROOT)
  message(FATAL_ERROR "cmake/cross.cmake needs SSTORE_CROSS and SSTORE_CROSS_SYSROOT")
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${SSTORE_CROSS})
set(CMAKE_C_COMPILER ${SSTORE_CROSS}-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${SSTORE_CROSS}-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${SSTORE_CROSS};-L;${SSTORE_CROSS_SYSROOT})

# Libraries and headers come from there, and never from this machine; programs are this machine's.
set(CMAKE_SYSROOT ${SSTORE_CROSS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SSTORE_CROSS_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${SSTORE_CROSS_SYSROOT}/usr/lib/${SSTORE_CROSS}-linux-gnu/pkgconfig)
