# KLU of SuiteSparse with the orderings below it (BTF, AMD, COLAMD): KLU::KLU
# No other part of SuiteSparse is looked for: the rest is under the GPL or not used.
find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
set(klu_required KLU_INCLUDE_DIR)
foreach(part IN ITEMS klu btf amd colamd suitesparseconfig)
    string(TOUPPER ${part} upper)
    find_library(KLU_${upper}_LIBRARY ${part})
    mark_as_advanced(KLU_${upper}_LIBRARY)
    list(APPEND klu_required KLU_${upper}_LIBRARY)
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KLU REQUIRED_VARS ${klu_required})
mark_as_advanced(KLU_INCLUDE_DIR)

if(KLU_FOUND AND NOT TARGET KLU::KLU)
    add_library(KLU::KLU UNKNOWN IMPORTED)
    set_target_properties(KLU::KLU PROPERTIES
        IMPORTED_LOCATION ${KLU_KLU_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${KLU_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES
        "${KLU_BTF_LIBRARY};${KLU_AMD_LIBRARY};${KLU_COLAMD_LIBRARY};${KLU_SUITESPARSECONFIG_LIBRARY}")
endif()
