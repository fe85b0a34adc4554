/* Collocation for the second order form: the methods. */
#ifndef DAE_METHOD_IMPLICIT_COLLOC2ND_H
#define DAE_METHOD_IMPLICIT_COLLOC2ND_H

#include "method/common/method.h"

extern const method method_colloc2nd, method_colloc2nd_radau1, method_colloc2nd_radau2,
    method_colloc2nd_radau3, method_colloc2nd_radau4;
extern const method method_colloc2nd_gauss1, method_colloc2nd_gauss2, method_colloc2nd_gauss3,
    method_colloc2nd_gauss4, method_colloc2nd_gauss5;
extern const method method_colloc2nd_thesis, method_colloc2nd_thesis_gauss;

#endif
