// What the kernel offers and the C library has no function for.
#include <linux/types.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/// `struct sched_attr` of sched_setattr(2), which no header of the C library has.
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

/// Asks for turns of that many nanoseconds for the calling thread. A kernel before 6.12 takes no notice.
/// Returns 0, or -1 with errno.
static inline int entitled_take_turns_of(unsigned long long nanoseconds) {
  struct entitled_sched_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return -1;
  attributes.size = sizeof attributes;
  attributes.sched_runtime = nanoseconds;
  return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}
