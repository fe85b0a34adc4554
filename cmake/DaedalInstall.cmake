# What is installed, and how pkg-config and CMake find it there.
include(CMakePackageConfigHelpers)

install(TARGETS daedal EXPORT daedalTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS daedal_static EXPORT daedalStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET daedal_cli)
    install(TARGETS daedal_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES ${PROJECT_SOURCE_DIR}/man/daedal.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${PROJECT_SOURCE_DIR}/completion/daedal.bash
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME daedal)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/man/daedal.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# CMake package
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/daedal)
install(EXPORT daedalTargets NAMESPACE daedal:: DESTINATION ${package_dir})
install(EXPORT daedalStaticTargets NAMESPACE daedal:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/daedalConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/daedalConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/daedalConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/daedalConfig.cmake
              ${PROJECT_BINARY_DIR}/daedalConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindLAPACKE.cmake ${PROJECT_SOURCE_DIR}/cmake/FindKLU.cmake
        DESTINATION ${package_dir})

# pkg-config. The prefix is relative to the file, so that the tree may be moved or staged.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
    set(PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
    set(PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(PC_PREFIX "\${pcfiledir}/${up}")
    set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# Listed one by one rather than as "Requires.private: lapacke": Debian's lapack.pc asks for the
# development files of gfortran even where libdaedal.a is the only static library.
set(PC_LIBS_PRIVATE "-llapacke -llapack -lblas -lklu -lbtf -lamd -lcolamd -lsuitesparseconfig")
# A static LAPACK needs the libraries of Fortran. They stand where the compiler has its own, if they are there at all; a
# LAPACK that is shared brings them along.
find_library(GFORTRAN_LIBRARY gfortran PATHS ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
mark_as_advanced(GFORTRAN_LIBRARY)
if(GFORTRAN_LIBRARY)
    string(APPEND PC_LIBS_PRIVATE " -lgfortran")
    find_library(QUADMATH_LIBRARY quadmath PATHS ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
    mark_as_advanced(QUADMATH_LIBRARY)
    if(QUADMATH_LIBRARY) # not on every architecture
        string(APPEND PC_LIBS_PRIVATE " -lquadmath")
    endif()
endif()
string(APPEND PC_LIBS_PRIVATE " -lm -ldl")
configure_file(${PROJECT_SOURCE_DIR}/daedal.pc.in ${PROJECT_BINARY_DIR}/daedal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/daedal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
