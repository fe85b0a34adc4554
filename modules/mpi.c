/* daedal-mpi.so: messages between ranks. */
#include "modules.h"

#include <limits.h>
#include <mpi.h>

const mpi_module *daedal_mpi_module(void);

static int begin(int *rank, int *size)
{
    int error = MPI_Init(NULL, NULL);
    if (error == MPI_SUCCESS) error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (error == MPI_SUCCESS) error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return error == MPI_SUCCESS ? MPI_Comm_size(MPI_COMM_WORLD, size) : error;
}

static int send(int to, int tag, const void *bytes, size_t count)
{
    if (count > INT_MAX) return MPI_ERR_COUNT;
    return MPI_Send(bytes, (int)count, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static int probe(int *found, int *from, int *tag, size_t *count)
{
    MPI_Status status;
    int bytes = 0;
    int error = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, found, &status);
    if (error != MPI_SUCCESS || !*found) return error;
    error = MPI_Get_count(&status, MPI_BYTE, &bytes);
    *from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    *count = (size_t)bytes;
    return error;
}

static int receive(int from, int tag, void *bytes, size_t count)
{
    return MPI_Recv(bytes, (int)count, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void finish(void)
{
    MPI_Finalize();
}

static void give_up(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

const mpi_module *daedal_mpi_module(void)
{
    static const mpi_module module = {MODULE_VERSION, begin, send, probe, receive, finish, give_up};
    return &module;
}
