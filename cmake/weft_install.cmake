# make install: headers, both libraries, the command, weft.pc, find_package(weft), the recipes.
include(CMakePackageConfigHelpers)
set(weft_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

install(TARGETS weft_static weft_shared EXPORT weft_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
if(TARGET weft)
  install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/recipes)
  install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/weft FILES_MATCHING PATTERN "*.yaml")
endif()

install(EXPORT weft_targets NAMESPACE weft:: FILE weftTargets.cmake DESTINATION ${weft_cmake_dir})
configure_package_config_file(cmake/weftConfig.cmake.in ${CMAKE_BINARY_DIR}/weftConfig.cmake
                              INSTALL_DESTINATION ${weft_cmake_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/weftConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/weftConfig.cmake ${CMAKE_BINARY_DIR}/weftConfigVersion.cmake
        DESTINATION ${weft_cmake_dir})

# weft.pc finds its prefix from where it lies, so that a copied tree still works.
file(RELATIVE_PATH weft_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" weft_pc_up "${weft_pc_up}")
configure_file(cmake/weft.pc.in ${CMAKE_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(page LICENSE README.md)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()
