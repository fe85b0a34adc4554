# daedal-mpi.so and daedal-hdf5.so, where MPI and HDF5 are found.
option(DAEDAL_MPI "Build module daedal-mpi, for sweeps on several ranks, if MPI is found" ON)
option(DAEDAL_HDF5 "Build module daedal-hdf5, for tables as HDF5 files, if HDF5 is found" ON)

# A module <name> from modules/<source>.c, beside the command.
function(daedal_module name source)
    add_library(daedal_${name} MODULE ${PROJECT_SOURCE_DIR}/modules/${source}.c)
    set_target_properties(daedal_${name} PROPERTIES PREFIX "" OUTPUT_NAME daedal-${name}
                                                    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(daedal_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                      ${PROJECT_SOURCE_DIR}/report)
    target_compile_options(daedal_${name} PRIVATE ${DAEDAL_WARNINGS})
    if(PROJECT_IS_TOP_LEVEL)
        install(TARGETS daedal_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/daedal)
    endif()
endfunction()

target_compile_definitions(
    daedal_cli PRIVATE DAEDAL_MODULE_DIR="${CMAKE_INSTALL_FULL_LIBDIR}/daedal")

if(DAEDAL_MPI)
    find_package(MPI QUIET COMPONENTS C)
endif()
if(DAEDAL_MPI AND MPI_C_FOUND)
    daedal_module(mpi mpi)
    target_include_directories(daedal_mpi SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
    target_link_libraries(daedal_mpi PRIVATE ${MPI_C_LIBRARIES})
else()
    message(STATUS "MPI is not there: sweeps run on one machine")
endif()

if(DAEDAL_HDF5)
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(HDF5 QUIET IMPORTED_TARGET hdf5-serial)
        if(NOT HDF5_FOUND)
            pkg_check_modules(HDF5 QUIET IMPORTED_TARGET hdf5)
        endif()
    endif()
endif()
if(DAEDAL_HDF5 AND HDF5_FOUND)
    daedal_module(hdf5 hdf5)
    target_link_libraries(daedal_hdf5 PRIVATE PkgConfig::HDF5)
else()
    message(STATUS "HDF5 is not there: sweeps write csv, json and MAT-files")
endif()
