# Toolchain file: Linux on ARM (64 bits) with Debian's cross compiler, run by qemu-user (tools/check-arm). Libraries are
# looked for in WEFT_ARM_ROOT only, which tools/fetch-arm fills; where it is empty, the core is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(WEFT_ARM_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm-root CACHE PATH "Libraries of Debian's arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WEFT_ARM_ROOT)
set(CMAKE_FIND_ROOT_PATH ${WEFT_ARM_ROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${WEFT_ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${WEFT_ARM_ROOT})
set(weft_arm_libraries ${WEFT_ARM_ROOT}/usr/lib/aarch64-linux-gnu) # which pkg-config takes for the system's
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${weft_arm_libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-L${weft_arm_libraries}")
