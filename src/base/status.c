#include "daedal.h"

#define TEXT(x) #x
#define VERSION_TEXT(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *dae_version(void)
{
    return VERSION_TEXT(DAE_VERSION_MAJOR, DAE_VERSION_MINOR, DAE_VERSION_PATCH);
}

const char *dae_status_name(dae_status status)
{
    switch (status) {
    case DAE_OK: return "DAE_OK";
    case DAE_STEPPED: return "DAE_STEPPED";
    case DAE_EVENT: return "DAE_EVENT";
    case DAE_ERR_ARGUMENT: return "DAE_ERR_ARGUMENT";
    case DAE_ERR_MEMORY: return "DAE_ERR_MEMORY";
    case DAE_ERR_CALLBACK: return "DAE_ERR_CALLBACK";
    case DAE_ERR_EVALUATION: return "DAE_ERR_EVALUATION";
    case DAE_ERR_MAX_STEPS: return "DAE_ERR_MAX_STEPS";
    case DAE_ERR_TOLERANCE: return "DAE_ERR_TOLERANCE";
    case DAE_ERR_ERROR_TEST: return "DAE_ERR_ERROR_TEST";
    case DAE_ERR_CONVERGENCE: return "DAE_ERR_CONVERGENCE";
    case DAE_ERR_SINGULAR: return "DAE_ERR_SINGULAR";
    case DAE_ERR_INITIAL: return "DAE_ERR_INITIAL";
    case DAE_ERR_BOUND: return "DAE_ERR_BOUND";
    case DAE_ERR_EVENT: return "DAE_ERR_EVENT";
    case DAE_ERR_INTERRUPTED: return "DAE_ERR_INTERRUPTED";
    case DAE_ERR_UNSUPPORTED: return "DAE_ERR_UNSUPPORTED";
    case DAE_ERR_STATE: return "DAE_ERR_STATE";
    case DAE_ERR_MODEL: return "DAE_ERR_MODEL";
    case DAE_ERR_ASSERT: return "DAE_ERR_ASSERT";
    case DAE_ERR_FILE: return "DAE_ERR_FILE";
    case DAE_ERR_STIFF: return "DAE_ERR_STIFF";
    case DAE_ERR_STALL: return "DAE_ERR_STALL";
    }
    return "unknown status";
}
