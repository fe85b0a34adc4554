/* Sparse LU of small complex matrices. */
#define SCALAR_COMPLEX
#include "linalg/complex_elimination.h"
#include "linalg/number.h"
#include "linalg/scalar.h"

#include "linalg/elimination.inc"
