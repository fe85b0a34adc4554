/* Pictures of a sweep. */
#include "gnuplot.h"

report_status report_sweep_plot(const char *path, const report_sweep *sweep, const char *gnuplot,
                                report_error *error)
{
    (void)sweep;
    (void)gnuplot;
    return report_fail(error, REPORT_ERR_ARGUMENT, "No picture of '%s' yet.", path);
}
