"""The native text of the one pool of threads, in LLVM IR: `d2s_fork`, and its serial twin. `threads` makes it run.

`d2s_fork(part, r, o, count, grain)` runs part(r, o, lo, hi) over the chunks [k * grain, min((k + 1) * grain, count)), each
once, and returns when all are done. The twin `serial` is the same text without threads, and stands where there is no pool.

The order of memory, which is all there is to say about such a text:

* Who took `@busy` (acquire, given back with release) owns the pool: only the owner writes `@job`, `@shares`, `@started`.
* The owner writes the job, then opens `@gate` (release): a count of tickets in its high half. A worker enters by taking a
  ticket (acquire) and adds itself to those inside, the low half, in the same step: what it then reads of the job was written
  before. It leaves by a release, the owner waits for none inside by an acquire, so parts are done when `d2s_fork` returns.
  All steps between are read-modify-writes, so that a release before them is seen through them. Waiting only for those who
  entered matters: a worker that sleeps, or that Linux queues behind its owner, costs nothing.
* A chunk is claimed by an addition nobody else can make at the same time; it orders nothing else, so it is monotonic.
* A worker that finds no job sleeps; that it misses none: it counts itself among `@sleepers` and then has the kernel compare
  `@generation`; the owner raises `@generation` and then reads `@sleepers`. All four are in one order (seq_cst): either the
  owner sees the sleeper and wakes it, or the sleeper sees the generation and stays awake.
* Each word that several threads write has a cache line of its own.

>>> POOL.count("seq_cst") >= 4 and "atomic" not in SERIAL
True
"""

MOST = 256  # threads, the caller among them

SERIAL = """
define internal i64 @chunks_of(i64 %count, i64 %grain) {
  %some = icmp sgt i64 %count, 0
  %last = sub i64 %count, 1
  %before = sdiv i64 %last, %grain
  %all = add i64 %before, 1
  %chunks = select i1 %some, i64 %all, i64 0
  ret i64 %chunks
}

define internal void @chunk(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain, i64 %k) {
  %lo = mul i64 %k, %grain
  %left = sub i64 %count, %lo
  %short = icmp slt i64 %left, %grain
  %size = select i1 %short, i64 %left, i64 %grain
  %hi = add i64 %lo, %size
  %done = call i64 %part(ptr %r, ptr %o, i64 %lo, i64 %hi)
  ret void
}

define void @serial(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain) {
entry:
  %chunks = call i64 @chunks_of(i64 %count, i64 %grain)
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %one]
  %more = icmp slt i64 %k, %chunks
  br i1 %more, label %one, label %end
one:
  call void @chunk(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain, i64 %k)
  %k1 = add i64 %k, 1
  br label %next
end:
  ret void
}
"""

POOL = """
%job_type = type { ptr, ptr, ptr, i64, i64, i64 }
%share_type = type { i64, i64, [6 x i64] }

@limit = global i64 1, align 64
@spins = global i64 0, align 8
@started = internal global i64 0, align 8
@job = internal global %job_type zeroinitializer, align 64
@shares = internal global [MOST x %share_type] zeroinitializer, align 64
@busy = internal global i32 0, align 64
@gate = internal global i64 0, align 64
@generation = internal global i32 0, align 64
@sleepers = internal global i64 0, align 64
@default_floats = internal constant i32 8064
@name = internal constant [11 x i8] c"d2s-worker\\00"

declare i64 @syscall(i64, ...)
declare i32 @sched_yield()
declare i32 @sigfillset(ptr)
declare i32 @sigdelset(ptr, i32)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_setname_np(i64, ptr)
declare void @llvm.x86.sse2.pause()
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal i64 @smaller(i64 %a, i64 %b) alwaysinline {
  %less = icmp slt i64 %a, %b
  %found = select i1 %less, i64 %a, i64 %b
  ret i64 %found
}

; Share s of so many chunks: [begin(s), begin(s + 1)), none larger than another by more than one.
define internal i64 @begin(i64 %chunks, i64 %shares, i64 %s) alwaysinline {
  %each = udiv i64 %chunks, %shares
  %odd = urem i64 %chunks, %shares
  %whole = mul i64 %each, %s
  %more = call i64 @smaller(i64 %s, i64 %odd)
  %at = add i64 %whole, %more
  ret i64 %at
}

; Takes chunks until none is left: those of one share, then of those behind it, the first behind the last.
define internal void @take(i64 %first) {
entry:
  %part = load ptr, ptr @job
  %r = load ptr, ptr getelementptr (%job_type, ptr @job, i32 0, i32 1)
  %o = load ptr, ptr getelementptr (%job_type, ptr @job, i32 0, i32 2)
  %count = load i64, ptr getelementptr (%job_type, ptr @job, i32 0, i32 3)
  %grain = load i64, ptr getelementptr (%job_type, ptr @job, i32 0, i32 4)
  %shares = load i64, ptr getelementptr (%job_type, ptr @job, i32 0, i32 5)
  br label %share
share:
  %s = phi i64 [%first, %entry], [%s2, %empty]
  %tried = phi i64 [0, %entry], [%tried1, %empty]
  %next = getelementptr [MOST x %share_type], ptr @shares, i64 0, i64 %s, i32 0
  %end_at = getelementptr [MOST x %share_type], ptr @shares, i64 0, i64 %s, i32 1
  %end = load i64, ptr %end_at
  br label %claim
claim:
  %k = atomicrmw add ptr %next, i64 1 monotonic
  %ours = icmp slt i64 %k, %end
  br i1 %ours, label %run, label %empty
run:
  call void @chunk(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain, i64 %k)
  br label %claim
empty:
  %s1 = add i64 %s, 1
  %over = icmp eq i64 %s1, %shares
  %s2 = select i1 %over, i64 0, i64 %s1
  %tried1 = add i64 %tried, 1
  %another = icmp slt i64 %tried1, %shares
  br i1 %another, label %share, label %out
out:
  ret void
}

; A worker's life: look for a ticket, work, wait for the next generation - awake for a while, then asleep.
define internal ptr @worker(ptr %number) {
entry:
  call void @llvm.x86.sse.ldmxcsr(ptr @default_floats)
  %own = ptrtoint ptr %number to i64
  br label %look
look:
  %spun = phi i64 [0, %entry], [%spun_on, %awake]
  ; before the gate: a job opened later raises it again
  %seen = load atomic i32, ptr @generation acquire, align 4
  %at_gate = load atomic i64, ptr @gate monotonic, align 8
  br label %try
try:
  %gate = phi i64 [%at_gate, %look], [%found, %enter]
  %ticket = icmp uge i64 %gate, 4294967296
  br i1 %ticket, label %enter, label %wait
enter:
  %inside = sub i64 %gate, 4294967295
  %swap = cmpxchg ptr @gate, i64 %gate, i64 %inside acquire monotonic
  %found = extractvalue { i64, i1 } %swap, 0
  %entered = extractvalue { i64, i1 } %swap, 1
  br i1 %entered, label %work, label %try
work:
  ; the same share in every job, where there are as many as workers: its memory may be near
  %shares = load i64, ptr getelementptr (%job_type, ptr @job, i32 0, i32 5)
  %first = urem i64 %own, %shares
  call void @take(i64 %first)
  %left = atomicrmw sub ptr @gate, i64 1 release
  br label %wait
wait:
  ; who found no ticket spins on from where it was: surplus workers fall asleep
  %from = phi i64 [%spun, %try], [0, %work]
  br label %spin
spin:
  %spun_on = phi i64 [%from, %wait], [%spun1, %pause], [%rested, %sleep]
  br label %awake
awake:
  %now = load atomic i32, ptr @generation acquire, align 4
  %new = icmp ne i32 %now, %seen
  br i1 %new, label %look, label %idle
idle:
  %spins = load atomic i64, ptr @spins monotonic, align 8
  %patient = icmp slt i64 %spun_on, %spins
  br i1 %patient, label %pause, label %sleep
pause:
  call void @llvm.x86.sse2.pause()
  %spun1 = add i64 %spun_on, 1
  br label %spin
sleep:
  %before = atomicrmw add ptr @sleepers, i64 1 seq_cst
  %woken = call i64 (i64, ...) @syscall(i64 202, ptr @generation, i32 128, i32 %seen, ptr null, ptr null, i32 0)
  %after = atomicrmw sub ptr @sleepers, i64 1 seq_cst
  ; woken on purpose it stays awake for a while, even if it came too late; where it did not fall asleep it tries again
  %called = icmp eq i64 %woken, 0
  %rested = select i1 %called, i64 0, i64 %spun_on
  br label %spin
}

; Starts workers until there are so many; where the system gives no more, those that are there are the limit from now on.
; All signals but those of a fault in the worker itself go to other threads: the main one, where Python expects them.
define internal void @start(i64 %wanted) noinline cold {
entry:
  %blocked = alloca [128 x i8], align 16
  %before = alloca [128 x i8], align 16
  %thread = alloca i64
  %f = call i32 @sigfillset(ptr %blocked)
  %f4 = call i32 @sigdelset(ptr %blocked, i32 4)
  %f5 = call i32 @sigdelset(ptr %blocked, i32 5)
  %f7 = call i32 @sigdelset(ptr %blocked, i32 7)
  %f8 = call i32 @sigdelset(ptr %blocked, i32 8)
  %f11 = call i32 @sigdelset(ptr %blocked, i32 11)
  %set = call i32 @pthread_sigmask(i32 2, ptr %blocked, ptr %before)
  br label %next
next:
  %there = load i64, ptr @started
  %more = icmp slt i64 %there, %wanted
  br i1 %more, label %one, label %end
one:
  %there1 = add i64 %there, 1
  %number = inttoptr i64 %there1 to ptr
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %number)
  %made = icmp eq i32 %failed, 0
  br i1 %made, label %own, label %no_more
own:
  %id = load i64, ptr %thread
  %named = call i32 @pthread_setname_np(i64 %id, ptr @name)
  %alone = call i32 @pthread_detach(i64 %id)
  store i64 %there1, ptr @started
  br label %next
no_more:
  store atomic i64 %there1, ptr @limit monotonic, align 8
  br label %end
end:
  %reset = call i32 @pthread_sigmask(i32 2, ptr %before, ptr null)
  ret void
}

; The owner's part: so many chunks by so many threads, this one among them.
define internal void @shared(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain, i64 %chunks, i64 %threads) {
entry:
  store ptr %part, ptr @job
  store ptr %r, ptr getelementptr (%job_type, ptr @job, i32 0, i32 1)
  store ptr %o, ptr getelementptr (%job_type, ptr @job, i32 0, i32 2)
  store i64 %count, ptr getelementptr (%job_type, ptr @job, i32 0, i32 3)
  store i64 %grain, ptr getelementptr (%job_type, ptr @job, i32 0, i32 4)
  store i64 %threads, ptr getelementptr (%job_type, ptr @job, i32 0, i32 5)
  br label %share
share:
  %s = phi i64 [0, %entry], [%s1, %share]
  %s1 = add i64 %s, 1
  %next_at = getelementptr [MOST x %share_type], ptr @shares, i64 0, i64 %s, i32 0
  %end_at = getelementptr [MOST x %share_type], ptr @shares, i64 0, i64 %s, i32 1
  %begin = call i64 @begin(i64 %chunks, i64 %threads, i64 %s)
  %end = call i64 @begin(i64 %chunks, i64 %threads, i64 %s1)
  store atomic i64 %begin, ptr %next_at monotonic, align 8
  store i64 %end, ptr %end_at
  %another = icmp slt i64 %s1, %threads
  br i1 %another, label %share, label %open
open:
  %workers = sub i64 %threads, 1
  %tickets = shl i64 %workers, 32
  store atomic i64 %tickets, ptr @gate release, align 8
  %generation = atomicrmw add ptr @generation, i32 1 seq_cst
  %asleep = load atomic i64, ptr @sleepers seq_cst, align 8
  ; those awake come by themselves
  %there = load i64, ptr @started
  %awake = sub i64 %there, %asleep
  %lacking = sub i64 %workers, %awake
  %few = icmp sgt i64 %lacking, 0
  br i1 %few, label %wake, label %work
wake:
  %waking = trunc i64 %lacking to i32
  %w = call i64 (i64, ...) @syscall(i64 202, ptr @generation, i32 129, i32 %waking, ptr null, ptr null, i32 0)
  br label %work
work:
  call void @take(i64 0)
  %closed = atomicrmw and ptr @gate, i64 4294967295 monotonic
  %spins = load atomic i64, ptr @spins monotonic, align 8
  br label %join
join:
  %spun = phi i64 [0, %work], [%spun1, %pause], [%spun, %yield]
  %inside = load atomic i64, ptr @gate acquire, align 8
  %done = icmp eq i64 %inside, 0
  br i1 %done, label %out, label %wait
wait:
  %patient = icmp slt i64 %spun, %spins
  br i1 %patient, label %pause, label %yield
pause:
  call void @llvm.x86.sse2.pause()
  %spun1 = add i64 %spun, 1
  br label %join
yield:
  %yielded = call i32 @sched_yield()
  br label %join
out:
  ret void
}

; Shares the work where there is something to share, and nobody - another thread, or the part this is called from - does so now.
define internal void @divided(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain) {
entry:
  %chunks = call i64 @chunks_of(i64 %count, i64 %grain)
  %limit = load atomic i64, ptr @limit monotonic, align 8
  %threads = call i64 @smaller(i64 %chunks, i64 %limit)
  %several = icmp sgt i64 %threads, 1
  br i1 %several, label %ask, label %alone
ask:
  %swap = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue { i32, i1 } %swap, 1
  br i1 %free, label %own, label %alone
alone:
  call void @serial(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain)
  ret void
own:
  %there = load i64, ptr @started
  %wanted = sub i64 %threads, 1
  %enough = icmp sge i64 %there, %wanted
  br i1 %enough, label %go, label %start
start:
  call void @start(i64 %wanted)
  br label %go
go:
  call void @shared(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain, i64 %chunks, i64 %threads)
  store atomic i32 0, ptr @busy release, align 4
  ret void
}

; At the door: the caller's floating-point state is as the workers' while it computes - another library may have set it to
; flush small numbers to 0 - and as it was again behind it. Bits 6 to 15 are settings, the six below tell what happened.
define void @d2s_fork(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain) {
entry:
  %floats = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %floats)
  %word = load i32, ptr %floats
  %settings = and i32 %word, 65472
  %usual = icmp eq i32 %settings, 8064
  br i1 %usual, label %go, label %set
go:
  call void @divided(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain)
  ret void
set:
  call void @llvm.x86.sse.ldmxcsr(ptr @default_floats)
  call void @divided(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain)
  call void @llvm.x86.sse.ldmxcsr(ptr %floats)
  ret void
}

; In a forked child: no worker came along, and whoever owned the pool did not either.
define void @forget() {
  store i64 0, ptr @started
  store atomic i64 0, ptr @gate monotonic, align 8
  store atomic i64 0, ptr @sleepers monotonic, align 8
  store atomic i32 0, ptr @busy release, align 4
  ret void
}

; 0 where the kernel of this system knows how to wake sleepers.
define i64 @lacking() {
  %woken = call i64 (i64, ...) @syscall(i64 202, ptr @generation, i32 129, i32 1, ptr null, ptr null, i32 0)
  ret i64 %woken
}
""".replace("MOST", str(MOST))
