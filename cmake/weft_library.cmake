# libweft.a and libweft.so from one set of position-independent objects, the command, the examples.
file(GLOB_RECURSE weft_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.c)
list(FILTER weft_sources EXCLUDE REGEX "/src/device/cpu/kernel/")
if(NOT weft_sources)
  message(FATAL_ERROR "weft: no sources under src/")
endif()

# Messages of protobuf as C, by protoc-c. Its sources are its own: not held to our warnings.
if(WEFT_HAVE_PROTOBUF_C)
  set(weft_proto ${weft_generated}/tensorboard.pb-c)
  add_custom_command(
    OUTPUT ${weft_proto}.c ${weft_proto}.h
    COMMAND ${WEFT_PROTOC_C} --proto_path=${CMAKE_SOURCE_DIR}/src/io --c_out=${weft_generated}
            ${CMAKE_SOURCE_DIR}/src/io/tensorboard.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/io/tensorboard.proto
    COMMENT "Messages of TensorBoard" VERBATIM)
  set_source_files_properties(${weft_proto}.c PROPERTIES COMPILE_OPTIONS -w)
  list(APPEND weft_sources ${weft_proto}.c)
endif()

add_library(weft_objects OBJECT ${weft_sources})
target_link_libraries(weft_objects PRIVATE weft_flags)
target_include_directories(weft_objects PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src
                           ${weft_generated})
target_include_directories(weft_objects SYSTEM PRIVATE ${weft_include_dirs})
target_compile_definitions(weft_objects PRIVATE WEFT_BUILD WEFT_NO_PLACE)
add_dependencies(weft_objects weft_generate)

add_library(weft_static STATIC $<TARGET_OBJECTS:weft_objects> ${weft_kernel_objects})
add_library(weft_shared SHARED $<TARGET_OBJECTS:weft_objects> ${weft_kernel_objects})
set_target_properties(weft_static weft_shared PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE C)
set_target_properties(weft_static PROPERTIES EXPORT_NAME static)
set_target_properties(weft_shared PROPERTIES EXPORT_NAME shared VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/weft.map)
target_link_options(weft_shared PRIVATE
                    LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/weft.map LINKER:--no-undefined)
if(WEFT_SANITIZE)
  # Sanitizer run-times are left undefined in a shared library on purpose.
  set_property(TARGET weft_shared PROPERTY LINK_OPTIONS
               LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/weft.map -fsanitize=${WEFT_SANITIZE})
endif()
foreach(target weft_static weft_shared)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Plain names, not paths: what is exported stays true on another machine.
  target_link_directories(${target} PRIVATE ${weft_link_dirs})
  target_link_libraries(${target} PRIVATE ${weft_link_names} m ${CMAKE_DL_LIBS} Threads::Threads)
endforeach()

file(GLOB weft_cli_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/*.c)
if(EXISTS ${CMAKE_SOURCE_DIR}/cli/main.c)
  add_executable(weft ${weft_cli_files})
  target_link_libraries(weft PRIVATE weft_flags weft_static)
  # No src/: the command sees what every user of the library sees.
  target_include_directories(weft PRIVATE ${CMAKE_SOURCE_DIR}/cli ${weft_generated})
  target_include_directories(weft SYSTEM PRIVATE ${weft_include_dirs})
endif()

file(GLOB weft_example_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.c)
weft_stems(weft_examples "" "\\.c" ${weft_example_files})
foreach(example IN LISTS weft_examples)
  add_executable(example-${example} ${CMAKE_SOURCE_DIR}/examples/${example}.c)
  target_link_libraries(example-${example} PRIVATE weft_flags weft_static)
endforeach()
