# CPU kernels: each src/device/cpu/kernel/*.c is compiled once per instruction set, with that set's flags,
# -DWF_ISA_SUFFIX=avx2 and -DWF_ISA_AVX2=1, without LTO. A file may narrow the list by a line
# "// isa: avx2 avx512" among its first ten. isa_list.inc names the sets, worst first.
include(CheckCCompilerFlag)

set(weft_avx2_flags -mavx2 -mfma -mf16c -mbmi -mbmi2)
set(weft_isa_flags_scalar "")
set(weft_isa_flags_avx2 ${weft_avx2_flags})
set(weft_isa_flags_avx512 ${weft_avx2_flags} -mavx512f -mavx512dq -mavx512bw -mavx512vl
    -mprefer-vector-width=512)
set(weft_isa_flags_neon "")

set(weft_isas scalar)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  foreach(isa avx2 avx512)
    string(REPLACE ";" " " flags "${weft_isa_flags_${isa}}")
    check_c_compiler_flag("${flags}" WEFT_COMPILES_${isa})
    if(WEFT_COMPILES_${isa})
      list(APPEND weft_isas ${isa})
    else()
      message(STATUS "weft: ${isa} kernels are left out: the compiler takes no ${flags}")
    endif()
  endforeach()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND weft_isas neon) # part of the base architecture: no flags
endif()
weft_write_list(isa_list.inc WF_ISA ${weft_isas})
list(JOIN weft_isas " " isa_text)
weft_report(isa "yes " "(${isa_text})")

file(GLOB weft_kernel_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/cpu/kernel/*.c)
set(weft_kernel_objects "")
foreach(isa IN LISTS weft_isas)
  set(sources "")
  foreach(file IN LISTS weft_kernel_files)
    file(STRINGS ${file} head LIMIT_COUNT 10 REGEX "^// isa:")
    string(REGEX REPLACE "^// isa: *" "" wanted "${head}")
    separate_arguments(wanted)
    if(NOT wanted OR isa IN_LIST wanted)
      list(APPEND sources ${file})
    endif()
  endforeach()
  if(sources)
    string(TOUPPER ${isa} upper)
    add_library(weft_kernel_${isa} OBJECT ${sources})
    target_link_libraries(weft_kernel_${isa} PRIVATE weft_flags)
    target_include_directories(weft_kernel_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/include
                               ${CMAKE_SOURCE_DIR}/src ${weft_generated})
    target_compile_definitions(weft_kernel_${isa} PRIVATE WEFT_BUILD WEFT_NO_PLACE WF_ISA=${isa}
                               WF_ISA_SUFFIX=${isa} WF_ISA_${upper}=1)
    target_compile_options(weft_kernel_${isa} PRIVATE ${weft_isa_flags_${isa}} -fno-lto
                           $<$<NOT:$<CONFIG:Debug>>:-O3>)
    add_dependencies(weft_kernel_${isa} weft_generate)
    list(APPEND weft_kernel_objects $<TARGET_OBJECTS:weft_kernel_${isa}>)
  endif()
endforeach()
