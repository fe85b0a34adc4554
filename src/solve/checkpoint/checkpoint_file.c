#define _POSIX_C_SOURCE 200809L
#include "solve/checkpoint/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/memory.h"

static dae_status cannot_write(dae_diag *diag, const char *path, int reason)
{
    return diag_set(diag, DAE_ERR_FILE, "The checkpoint '%.200s' cannot be written: %s.", path,
                    strerror(reason));
}

dae_status checkpoint_file_open(checkpoint_file *file, const char *path, dae_diag *diag)
{
    const size_t size = strlen(path) + 48;
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* a new file would take its place */
        return diag_set(diag, DAE_ERR_FILE,
                        "The checkpoint '%.200s' cannot be written: that is a directory, a device "
                        "or a pipe.",
                        path);
    *file = (checkpoint_file){.path = path, .temporary = DAE_ARRAY(char, size)};
    if (!file->temporary)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the name of a checkpoint.");
    snprintf(file->temporary, size, "%s.%ld.partial", path, (long)getpid());
    file->stream = fopen(file->temporary, "wb");
    if (file->stream) return DAE_OK;
    const int reason = errno;
    dae_free(file->temporary);
    *file = (checkpoint_file){0};
    return cannot_write(diag, path, reason);
}

int checkpoint_file_write(const void *bytes, size_t count, void *user)
{
    checkpoint_file *file = user;
    errno = 0;
    if (fwrite(bytes, 1, count, file->stream) == count) return 0;
    if (file->reason == 0) file->reason = errno ? errno : EIO;
    return 1;
}

/* The name is on the disk, too, where a directory can be asked for that. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    char *directory = DAE_ARRAY(char, length + 1);
    if (!directory) return;
    memcpy(directory, slash ? path : ".", length);
    const int descriptor = open(directory, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
    dae_free(directory);
}

dae_status checkpoint_file_close(checkpoint_file *file, dae_status status, dae_diag *diag)
{
    bool done = status == DAE_OK;
    errno = 0;
    if (done && (fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0)) {
        done = false;
        file->reason = errno ? errno : EIO;
    }
    if (fclose(file->stream) != 0 && done) {
        done = false;
        file->reason = errno;
    }
    if (done && rename(file->temporary, file->path) != 0) {
        done = false;
        file->reason = errno;
    }
    if (!done) unlink(file->temporary);
    if (done) sync_directory(file->path);
    if (!done && file->reason) status = cannot_write(diag, file->path, file->reason);
    dae_free(file->temporary);
    return status;
}

FILE *checkpoint_file_read(const char *path, dae_diag *diag)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        diag_set(diag, DAE_ERR_FILE, "The checkpoint '%.200s' cannot be read: %s.", path,
                 strerror(errno));
    return file;
}

size_t checkpoint_file_take(void *bytes, size_t count, void *file)
{
    return fread(bytes, 1, count, file);
}
