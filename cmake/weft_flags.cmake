# weft_flags: the language, the warnings and the arithmetic that every target is compiled with.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")

add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion
  # One rounding per operation as written: nothing here may alter a value. Not contracting is the
  # arithmetic itself; the other two only give up errno and the exception flags, which nobody reads.
  -ffp-contract=off -fno-math-errno -fno-trapping-math
  -fvisibility=hidden)
if(WEFT_WERROR)
  # Only for compilers that the tree was cleaned with: a newer one brings new warnings, and whoever builds
  # with it should get a program.
  set(weft_newest_GNU 13)
  set(weft_newest_Clang 15)
  set(newest ${weft_newest_${CMAKE_C_COMPILER_ID}})
  if(newest AND CMAKE_C_COMPILER_VERSION VERSION_LESS newest)
    target_compile_options(weft_flags INTERFACE -Werror)
  else()
    message(STATUS "weft: warnings are not errors: ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} is "
                   "not one of those tried (gcc 12, clang 14)")
  endif()
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR WEFT_SANITIZE)
  target_compile_options(weft_flags INTERFACE -fno-omit-frame-pointer)
endif()
if(WEFT_SANITIZE)
  # These report what the instrumentation itself added, or kept from being made into vectors.
  target_compile_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all
    $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow>
    $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
  target_link_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # OpenCL drivers are C++ and come at run time: what ASan intercepts of theirs must be there from the start.
    target_link_options(weft_flags INTERFACE --driver-mode=g++)
  endif()
endif()
# glibc hides threads' affinity and clocks under -std=c11 without it. Empty, as a file's own #define would be.
target_compile_definitions(weft_flags INTERFACE _GNU_SOURCE=)
