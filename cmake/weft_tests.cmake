# weft-tests: every test/**/*_test.c in one executable, one CTest test per file, and the house rules.
# A test file may ask for labels by a line "// labels: full oclgrind valgrind" among its first ten;
# without full or exhaustive it is part of `make check`; those labelled long start first, lest one end alone.
# Every test leaves a tally file, summed by tools/check-tally.
if(NOT WEFT_TESTS)
  message(STATUS "weft: tests        no: switched off by WEFT_TESTS")
  return()
endif()
enable_testing()
set(weft_tally ${CMAKE_BINARY_DIR}/tally)
set(weft_test_tmp ${CMAKE_BINARY_DIR}/test-tmp)
file(MAKE_DIRECTORY ${weft_tally} ${weft_test_tmp})
# Caches of compiled kernels stay in the build folder: a test run leaves nothing behind, and finds nothing old.
set(weft_test_env "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/test-cache" "TMPDIR=${weft_test_tmp}")

set(weft_cmocka "")
if(PKG_CONFIG_FOUND)
  pkg_check_modules(WEFT_CMOCKA QUIET cmocka)
endif()
if(WEFT_CMOCKA_FOUND)
  weft_report(cmocka "yes " "(${WEFT_CMOCKA_VERSION})")
else()
  weft_report(cmocka "no: " "cmocka.pc not found, unit tests are left out, install libcmocka-dev")
endif()

set(weft_test_script ${CMAKE_SOURCE_DIR}/tools/check-script)

# weft_script_test(NAME LABEL command...): exit 0 passed, 77 skipped (last line says why), else failed.
function(weft_script_test name label)
  add_test(NAME ${name} COMMAND ${weft_test_script} ${weft_tally} ${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT 1800 ENVIRONMENT "${weft_test_env}"
                       WORKING_DIRECTORY ${weft_test_tmp})
endfunction()

if(WEFT_CMOCKA_FOUND)
  # Besides the test files: what several of them share, which is every other file that is no program.
  file(GLOB_RECURSE weft_test_helpers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/*.c)
  list(FILTER weft_test_helpers EXCLUDE REGEX "_test\\.c$|/test/fake/|/test/fuzz/|/test/runner/main\\.c$")
  foreach(file IN LISTS weft_test_helpers)
    file(STRINGS ${file} program LIMIT_COUNT 1 REGEX "^int main\\(")
    if(program)
      list(REMOVE_ITEM weft_test_helpers ${file})
    endif()
  endforeach()
  add_executable(weft-tests test/runner/main.c ${weft_test_helpers} ${weft_test_files})
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # gcc 12 breaks off where it makes vectors of a loop that compares results (test/nn/nn_run.h).
    target_compile_options(weft-tests PRIVATE -fno-tree-vectorize)
  endif()
  # The static archive: internal symbols are hidden, but not from an executable that holds them.
  target_link_libraries(weft-tests PRIVATE weft_flags weft_static ${WEFT_CMOCKA_LIBRARIES})
  target_link_directories(weft-tests PRIVATE ${WEFT_CMOCKA_LIBRARY_DIRS})
  target_include_directories(weft-tests PRIVATE ${CMAKE_SOURCE_DIR}/test ${CMAKE_SOURCE_DIR}/test/runner
                             ${CMAKE_SOURCE_DIR}/src ${weft_generated})
  target_include_directories(weft-tests SYSTEM PRIVATE ${weft_include_dirs} ${WEFT_CMOCKA_INCLUDE_DIRS})
  target_compile_definitions(weft-tests PRIVATE WEFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             WEFT_BINARY="$<IF:$<TARGET_EXISTS:weft>,${CMAKE_BINARY_DIR}/weft,>"
                             WEFT_BUILD_DIR="${CMAKE_BINARY_DIR}" WEFT_TEST_TMP="."
                             WEFT_TEST_TMP_ROOT="${weft_test_tmp}")
  add_dependencies(weft-tests weft_generate)
  if(TARGET weft)
    add_dependencies(weft-tests weft) # tests run the command
  endif()

  foreach(file IN LISTS weft_test_files)
    weft_stems(stem "" "_test\\.c" ${file})
    file(STRINGS ${file} head LIMIT_COUNT 10 REGEX "^// labels:")
    string(REGEX REPLACE "^// labels: *" "" labels "${head}")
    string(REGEX REPLACE " *\\(.*" "" labels "${labels}") # what follows in brackets is the reason
    separate_arguments(labels)
    set(timeout 900)
    if("exhaustive" IN_LIST labels)
      set(timeout 172800)
    elseif(NOT "full" IN_LIST labels)
      list(APPEND labels quick)
    endif()
    add_test(NAME ${stem} COMMAND weft-tests --tally ${weft_tally} ${stem})
    set_tests_properties(${stem} PROPERTIES LABELS "unit;${labels}" TIMEOUT ${timeout}
                         ENVIRONMENT "${weft_test_env}" WORKING_DIRECTORY ${weft_test_tmp})
    if("long" IN_LIST labels)
      set_tests_properties(${stem} PROPERTIES COST 1000)
    endif()
  endforeach()
endif()

# The rules of the house: each script checks one, and says file and line.
file(GLOB weft_house_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/house/house_*.sh)
foreach(file IN LISTS weft_house_files)
  get_filename_component(name ${file} NAME_WE)
  weft_script_test(${name} "quick;house" ${file} ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
                   ${CMAKE_C_COMPILER})
endforeach()

# The examples, built against the source tree here and against an installed copy in the full run.
# test/examples/example_NAME.sh, where there is one, runs the example and looks at what it says.
foreach(example IN LISTS weft_examples)
  set(judge ${CMAKE_SOURCE_DIR}/test/examples/example_${example}.sh)
  if(NOT EXISTS ${judge})
    set(judge "")
  endif()
  weft_script_test(example_${example} quick ${judge} $<TARGET_FILE:example-${example}>)
endforeach()

# The sweep over all floats is a program of its own: whole in make check-exhaustive (tools/check-exhaustive),
# every 31st float in make check-full.
set(weft_sweep ${CMAKE_SOURCE_DIR}/test/math/exhaustive.c)
if(EXISTS ${weft_sweep})
  check_c_compiler_flag(-march=native WEFT_COMPILES_native)
  add_executable(weft-exhaustive ${weft_sweep})
  target_link_libraries(weft-exhaustive PRIVATE weft_flags m Threads::Threads)
  target_include_directories(weft-exhaustive PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(weft-exhaustive PRIVATE -O3 $<$<BOOL:${WEFT_COMPILES_native}>:-march=native>)
  weft_script_test(math_sweep full $<TARGET_FILE:weft-exhaustive> --stride 31)
endif()

if(TARGET weft)
  weft_script_test(bench_compare quick ${CMAKE_SOURCE_DIR}/test/bench/compare_weft.sh ${CMAKE_SOURCE_DIR} $<TARGET_FILE:weft>)
  weft_script_test(tensorboard_read full ${CMAKE_SOURCE_DIR}/test/train/tensorboard_read.sh $<TARGET_FILE:weft>)
endif()

weft_script_test(install_copy full ${CMAKE_SOURCE_DIR}/test/install/install_copy.sh ${CMAKE_SOURCE_DIR}
                 ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER} ${CMAKE_COMMAND})
