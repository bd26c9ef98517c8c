# Lists made from file names, in ${build}/generated/weft_generated/: op_list.inc, device_list.inc,
# verb_list.inc, reader_list.inc, family_list.inc, test_list.inc (at configure time; a new file reconfigures), and two made
# from contents at build time: elementwise_list.inc and gpu_sources.inc.
set(weft_lists ${weft_generated}/weft_generated)

# Writes only what changed, so that a reconfigure rebuilds nothing.
function(weft_write_list name macro)
  set(text "// Made from file names by cmake/weft_registry.cmake.\n")
  foreach(entry IN LISTS ARGN)
    string(APPEND text "${macro}(${entry})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${weft_lists}/${name} CONTENT "${text}" @ONLY)
endfunction()

# weft_stems(out prefix suffix files...): names without folder, prefix and suffix; files without both are left out.
function(weft_stems out prefix suffix)
  set(stems "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    if(name MATCHES "^${prefix}([A-Za-z0-9_]+)${suffix}$")
      list(APPEND stems ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(SORT stems)
  set(${out} ${stems} PARENT_SCOPE)
endfunction()

# An op is a file src/op/NAME.c that exports wf_op_NAME; helpers are _NAME.c or NAME_common.c.
file(GLOB weft_op_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/op/*.c)
weft_stems(ops "" "\\.c" ${weft_op_files})
list(FILTER ops EXCLUDE REGEX "^_|_common$")
weft_write_list(op_list.inc WF_OP ${ops})

# A device is a folder src/device/D with D_device.c. The order is the order of `weft devices`.
file(GLOB device_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/*/*_device.c)
set(devices_found "")
foreach(file IN LISTS device_files)
  if(file MATCHES "/([a-z0-9]+)/([a-z0-9]+)_device\\.c$" AND CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_2)
    list(APPEND devices_found ${CMAKE_MATCH_1})
  endif()
endforeach()
list(SORT devices_found)
set(devices "")
foreach(device cpu opencl cuda hip ref null)
  if(device IN_LIST devices_found)
    list(APPEND devices ${device})
    list(REMOVE_ITEM devices_found ${device})
  endif()
endforeach()
list(APPEND devices ${devices_found})
weft_write_list(device_list.inc WF_DEVICE ${devices})

file(GLOB verb_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/verb_*.c)
weft_stems(verbs "verb_" "\\.c" ${verb_files})
weft_write_list(verb_list.inc WF_VERB ${verbs})

file(GLOB reader_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/data/reader_*.c)
weft_stems(readers "reader_" "\\.c" ${reader_files})
weft_write_list(reader_list.inc WF_READER ${readers})

file(GLOB family_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/nn/family_*.c)
weft_stems(families "family_" "\\.c" ${family_files})
list(FILTER families EXCLUDE REGEX "_common$")
weft_write_list(family_list.inc WF_FAMILY ${families})

file(GLOB_RECURSE weft_test_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/*_test.c)
weft_stems(weft_test_stems "" "_test\\.c" ${weft_test_files})
weft_write_list(test_list.inc WF_TEST ${weft_test_stems})

# Every WF_ELEMENTWISE_<KIND>(...) of the op files, for kernel files that give the macros their own meaning.
add_custom_command(
  OUTPUT ${weft_lists}/elementwise_list.inc
  COMMAND ${CMAKE_COMMAND} -DOUT=${weft_lists}/elementwise_list.inc -DDIR=${CMAKE_SOURCE_DIR}/src/op
          -P ${CMAKE_SOURCE_DIR}/cmake/list_elementwise.cmake
  DEPENDS ${weft_op_files} ${CMAKE_SOURCE_DIR}/cmake/list_elementwise.cmake
  COMMENT "Listing elementwise ops" VERBATIM)

# weft_embed(NAME MACRO FILE...): NAME.inc holds each file as a C string.
function(weft_embed name macro)
  add_custom_command(
    OUTPUT ${weft_lists}/${name}.inc
    COMMAND ${CMAKE_COMMAND} -DOUT=${weft_lists}/${name}.inc -DMACRO=${macro} "-DFILES=${ARGN}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_texts.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/embed_texts.cmake
    COMMENT "Embedding ${name}" VERBATIM)
endfunction()

# The GPU kernels and the functions they share with the CPU, as C strings.
file(GLOB weft_gpu_texts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/gpu/kernel/*.h
     ${CMAKE_SOURCE_DIR}/src/math/*.h)
weft_embed(gpu_sources WF_GPU_SOURCE ${weft_gpu_texts})
# The networks that `weft bench NAME` measures.
file(GLOB weft_bench_recipes CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/recipes/bench/*.yaml)
weft_embed(bench_recipes WF_BENCH_RECIPE ${weft_bench_recipes})
add_custom_target(weft_generate DEPENDS ${weft_lists}/elementwise_list.inc ${weft_lists}/gpu_sources.inc
                  ${weft_lists}/bench_recipes.inc)
