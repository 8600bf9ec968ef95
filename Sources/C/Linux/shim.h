// Linux system calls without a wrapper in the C library.
#include <linux/types.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/// `struct sched_attr` of sched_setattr(2), which the C library does not declare.
struct entitled_sched_attr {
  __u32 size;
  __u32 sched_policy;
  __u64 sched_flags;
  __s32 sched_nice;
  __u32 sched_priority;
  __u64 sched_runtime;
  __u64 sched_deadline;
  __u64 sched_period;
};

/// `SCHED_FLAG_RESET_ON_FORK`: threads started by this one get default scheduling.
#define ENTITLED_RESET_ON_FORK 1

/// Sets the time slice in nanoseconds and the minimum niceness of the calling thread.
/// Only the first call in a thread has an effect. Kernels before 6.12 ignore the time slice.
static inline void entitled_take_turns(unsigned long long nanoseconds, int nice) {
  static __thread int has_asked;
  if (has_asked) return;
  has_asked = 1;
  struct entitled_sched_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.size = sizeof attributes;
  attributes.sched_flags |= ENTITLED_RESET_ON_FORK;
  if (attributes.sched_nice < nice) attributes.sched_nice = nice;
  attributes.sched_runtime = nanoseconds;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// The number of cores of the calling thread's CPU affinity; 0 if it is not known. Without the C library, whose set has
/// room for 1,024 cores only.
static inline int entitled_affinity_cores(void) {
  unsigned long mask[1024];
  long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
  int count = 0;
  for (long word = 0; word < bytes / (long)sizeof *mask; word++) count += __builtin_popcountl(mask[word]);
  return count;
}
