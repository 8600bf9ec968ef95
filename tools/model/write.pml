/* Accepted entries are written exactly once, by one leader at a time.
 *
 * Replicas append entries to the inbox and acknowledge them. Leaders raise the epoch of the head row, read the inbox in
 * batches and write each batch by one statement that is conditional on epoch and position. Processes interleave
 * arbitrarily, so each can be frozen at any point and wake later. Connections are lost before or after the server
 * executed what was sent; what was sent can also be executed long after the loss. Leaders crash.
 *
 * A name of a mutation, such as -DNO_EPOCH, removes one rule; then an assertion must fail. */

#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef TAKEOVERS
#define TAKEOVERS 2 /* the leader of the last one does not crash */
#endif

#define CONTENTS 2
#define ROWS 4 /* CONTENTS + LOSSES */
#define SLOTS 4 /* of flushes in flight: one of each leader, and those whose connection was lost */

#define EPOCHS (TAKEOVERS + LOSSES + 1)

#define BIT(n) (1 << (n))

mtype = { inFlight, committed, refused };
#define unused 0

/* The tables of the database. Sets are bits. */
mtype rowState[ROWS];
byte rowContent[ROWS];
byte rows; /* the sequence of the inbox's ids */
byte committedRows, doneRows;
byte headEpoch, headPosition;
byte history[EPOCHS]; /* the position at which each epoch began */
byte taken[CONTENTS]; /* how often the effect of a content was committed */

/* Flushes on their way to the server and, while their leader waits, their result. */
typedef Flush {
  mtype state;
  bool isAwaited;
  byte epoch, position, rows, contents
};
Flush flush[SLOTS];

/* Observations and limits. */
bool accepted[CONTENTS];
byte ledEpochs;
byte takeovers;
byte losses = LOSSES;
byte crashes = CRASHES;

/* The condition of a flush: WHERE epoch = $e AND position = $p. */
#if defined(NO_EPOCH)
#define APPLIES(k) (headPosition == flush[k].position)
#elif defined(NO_POSITION)
#define APPLIES(k) (headEpoch == flush[k].epoch)
#else
#define APPLIES(k) (headEpoch == flush[k].epoch && headPosition == flush[k].position)
#endif

inline clear(k) {
  flush[k].state = unused; flush[k].isAwaited = false; flush[k].epoch = 0; flush[k].position = 0;
  flush[k].rows = 0; flush[k].contents = 0
}

/* The leader of a flush waits no longer. */
inline abandon(k) {
  if
  :: flush[k].state == inFlight -> flush[k].isAwaited = false
  :: else -> clear(k)
  fi
}

inline execute(k) {
  if
  :: APPLIES(k) ->
    assert(flush[k].epoch == headEpoch); /* no write of an old epoch */
    assert(flush[k].position == headPosition); /* every position is written once, in order */
    headPosition = flush[k].position + 1;
    doneRows = doneRows | flush[k].rows;
    taken[0] = taken[0] + (flush[k].contents & 1);
    taken[1] = taken[1] + ((flush[k].contents >> 1) & 1);
    assert(taken[0] <= 1 && taken[1] <= 1); /* no entry is taken twice */
    flush[k].state = committed
  :: else -> flush[k].state = refused
  fi;
  if :: flush[k].isAwaited -> skip :: else -> clear(k) fi
}

/* Executes what is in flight, in any order and at any time. */
#define COMMIT_ROW(k) d_step { rowState[k] == inFlight -> rowState[k] = committed; committedRows = committedRows | BIT(k) }
#define REFUSE_ROW(k) d_step { rowState[k] == inFlight && losses > 0 -> losses--; rowState[k] = refused }
#define FLUSH(k) d_step { flush[k].state == inFlight -> execute(k) }

active proctype Server() {
end:
  do
  :: COMMIT_ROW(0) :: COMMIT_ROW(1) :: COMMIT_ROW(2) :: COMMIT_ROW(3)
  :: REFUSE_ROW(0) :: REFUSE_ROW(1) :: REFUSE_ROW(2) :: REFUSE_ROW(3)
  :: FLUSH(0) :: FLUSH(1) :: FLUSH(2) :: FLUSH(3)
  od
}

/* A replica that receives a content, verified before, and accepts it after its commit. The sender repeats what was not
 * accepted, so a crash before is like a lost connection. */
proctype Receiver(byte content) {
  byte row;
append:
  atomic {
    row = rows;
    rows++;
    rowContent[row] = content;
    rowState[row] = inFlight
  };
#ifdef EARLY_ACCEPTANCE
  goto accept;
#endif
  if
  :: atomic { rowState[row] == committed -> goto accept }
  :: atomic { rowState[row] == refused -> row = 0; goto append }
  :: atomic { losses > 0 -> losses--; row = 0; goto append } /* whether it was committed is unknown */
  fi;
accept:
  atomic { accepted[content] = true; row = 0 }
}

/* The contents of the rows of a batch. */
#define CONTENT(k) (((batch >> k) & 1) * BIT(rowContent[k]))
#define CONTENTS_OF_BATCH (CONTENT(0) | CONTENT(1) | CONTENT(2) | CONTENT(3))
#define TAKEN ((taken[0] > 0) | ((taken[1] > 0) << 1))

/* The rows that a leader reads: committed and without an outcome. */
#ifdef CURSOR
#define UNREAD (committedRows & ~doneRows & ~(BIT(cursor) - 1))
#else
#define UNREAD (committedRows & ~doneRows)
#endif

/* Leaders are alike, so only one of them begins. */
proctype Leader(bool isFirst) {
  byte epoch, position, batch, contents, slot, found;
  byte known, applied; /* the workspace: contents whose state was read, and those of them that are applied */
  byte cursor; /* only of the mutation CURSOR: rows up to here were read */

candidate:
  /* The lease ran out, at any time, because its holder can be frozen:
   * UPDATE head SET epoch = epoch + 1 RETURNING epoch, position. */
#ifdef READ_EPOCH_FIRST
end_read:
  atomic { takeovers < TAKEOVERS && (isFirst || headEpoch > 0) -> epoch = headEpoch + 1 };
  atomic {
#else
end_take:
  atomic {
    takeovers < TAKEOVERS && (isFirst || headEpoch > 0) -> epoch = headEpoch + 1;
#endif
    takeovers++;
    headEpoch = epoch;
    position = headPosition;
#ifndef LATE_HISTORY
    history[epoch] = position;
#endif
    assert((ledEpochs & BIT(epoch)) == 0); /* one leader for each epoch */
    ledEpochs = ledEpochs | BIT(epoch)
  };
#ifdef LATE_HISTORY
  atomic { history[epoch] = position };
#endif

end_batches:
  /* Reads rows of the inbox, all or the first, and what they touch and the workspace does not have, then sends the
   * flush. That other processes act in between is the same as a flush that arrives late. */
  if
  :: atomic { takeovers < TAKEOVERS && crashes > 0 -> crashes--; goto deposed }
  :: atomic { UNREAD != 0 -> batch = UNREAD }
  :: atomic { UNREAD & (UNREAD - 1) -> batch = UNREAD & -UNREAD }
  fi;
  d_step {
    contents = CONTENTS_OF_BATCH;
    applied = applied | (contents & ~known & TAKEN);
    known = known | contents;
#ifndef NO_IDENTITY
    contents = contents & ~applied;
#endif
    slot = 0;
    do :: flush[slot].state != unused -> slot++; assert(slot < SLOTS) :: else -> break od;
    flush[slot].state = inFlight;
    flush[slot].isAwaited = true;
    flush[slot].epoch = epoch;
    flush[slot].position = position;
    flush[slot].rows = batch;
    flush[slot].contents = contents;
#ifdef CURSOR
    do :: (batch >> cursor) != 0 -> cursor++ :: else -> break od;
#endif
    batch = 0
  };
  if
  :: atomic { flush[slot].state == committed -> clear(slot); position++; applied = applied | contents; contents = 0; goto end_batches }
#ifdef LOOK_WITHOUT_RAISING
  :: atomic { flush[slot].state == refused -> goto look }
#else
  :: atomic { flush[slot].state == refused -> abandon(slot); goto deposed } /* another one leads */
#endif
  :: atomic { losses > 0 -> losses--; goto look } /* the connection is lost, and the flush may still be executed */
  :: atomic { takeovers < TAKEOVERS && crashes > 0 -> crashes--; abandon(slot); goto deposed }
  fi;

look:
  /* UPDATE head SET epoch = epoch + 1 WHERE epoch = $e RETURNING epoch, position: after it the flush is either
   * committed or refused. */
  if
#ifdef LOOK_WITHOUT_RAISING
  :: atomic { headEpoch == epoch -> found = headPosition }
#else
  :: atomic {
       headEpoch == epoch -> headEpoch++;
       epoch = headEpoch;
       found = headPosition;
       history[epoch] = found;
       ledEpochs = ledEpochs | BIT(epoch)
     }
  /* Its own result is lost: the leader cannot tell itself from another one, and begins again. */
  :: atomic { headEpoch == epoch && losses > 0 && takeovers < TAKEOVERS ->
       losses--;
       headEpoch++;
       history[headEpoch] = headPosition;
       abandon(slot);
       goto deposed
     }
#endif
  /* Another one leads: the position at which the next epoch began shows whether the flush was committed before. */
  :: atomic {
       headEpoch != epoch ->
       assert((flush[slot].state == committed) == (history[epoch + 1] == position + 1));
       abandon(slot);
       goto deposed
     }
  fi;
  atomic {
    if
    :: found == position -> skip /* the rows are read again */
    :: found != position ->
      assert(flush[slot].state == committed); /* what a leader confirms is committed */
      position = position + 1;
      applied = applied | contents
    fi;
    abandon(slot);
    contents = 0;
    found = 0;
    goto end_batches
  };

deposed:
  atomic { epoch = 0; position = 0; batch = 0; contents = 0; slot = 0; cursor = 0 };
#ifndef KEPT_WORKSPACE
  d_step { known = 0; applied = 0 };
#endif
  goto candidate
}

/* When nothing can happen any more: everything was accepted and taken. */
active proctype Observer() {
  timeout ->
  assert(accepted[0] && accepted[1]);
  assert(taken[0] == 1 && taken[1] == 1)
}

init {
  atomic {
    run Receiver(0);
    run Receiver(1);
    run Leader(true);
    run Leader(false)
  }
}
