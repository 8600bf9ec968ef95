/* Answers are never older than their token, and every position is followed once, in order.
 *
 * The leader commits positions of one customer's changes; write.pml shows that they are given once and in order. Each
 * replica follows them by its feed: for each position it first raises the version of the customer, then publishes the
 * position. Questions are answered from the replica's memory or, on a miss, from the database. Processes interleave
 * arbitrarily, and a replica can crash, which empties its memory.
 *
 * A name of a mutation, such as -DNO_WAIT, removes one rule; then an assertion must fail. */

#ifndef POSITIONS
#define POSITIONS 3
#endif
#ifndef QUESTIONS
#define QUESTIONS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif

#define BIT(n) (1 << (n))

/* The database: the changes by number, and the number of commits so far, which is the age of what a read returns. */
byte visible; /* as bits */
byte commits;
byte sequence; /* only of the mutation SEQUENCE */

/* The replica. */
byte version; /* of the customer; raised by the feed */
byte published;
byte seen; /* the positions that were followed, as bits */
bool isCached;
byte cachedAnswer, cachedVersion;
byte restarts;

/* Commits changes. Positions are taken under the lock of the head row, so their order is the order of commits. */
proctype Leader() {
  byte number;
  do
#ifdef SEQUENCE
  :: atomic { sequence < POSITIONS -> sequence++; number = sequence };
     atomic { visible = visible | BIT(number); commits++; number = 0 }
  :: atomic { sequence >= POSITIONS -> break }
#else
  :: atomic { commits < POSITIONS -> number = commits + 1; commits = number; visible = visible | BIT(number); number = 0 }
  :: atomic { commits >= POSITIONS -> break }
#endif
  od
}

/* Follows the changes: SELECT … WHERE position > $published ORDER BY position LIMIT 1. */
proctype Feed() {
  byte next;
end:
  do
  :: atomic {
       (visible >> (published + 1)) != 0 -> next = published + 1;
       do :: (visible & BIT(next)) == 0 -> next++ :: else -> break od
     };
     assert((seen & BIT(next)) == 0); /* no position twice */
#ifdef EARLY_PUBLICATION
     published = next;
     version++;
#else
     version++;
     published = next;
#endif
     atomic { seen = seen | BIT(next); next = 0 }
  :: atomic { restarts < CRASHES ->
       /* A replica that starts reads the position of the database, with an empty memory. */
       restarts++;
       published = commits;
       seen = BIT(commits + 1) - 2;
       isCached = false;
       cachedAnswer = 0;
       cachedVersion = 0
     }
  od
}

/* A caller that asks several times, with the token of what it wrote before or without one. */
proctype Caller() {
  byte token, answer, before, life, asked;
  do
  :: atomic { asked < QUESTIONS -> asked++ };
     if
     :: token = commits
     :: token = 0
     fi;
#ifndef NO_WAIT
     /* Waits for the feed; a call that waits too long is refused and not modelled further. */
     atomic { published >= token -> life = restarts };
#endif
     if
     :: atomic { isCached && cachedVersion == version -> answer = cachedAnswer }
     :: atomic { !isCached || cachedVersion != version -> before = version; life = restarts };
        answer = commits; /* a read of the primary, at any time after the version was read */
        /* An answer of a replica that crashed meanwhile is lost. */
        atomic {
          if
          :: life == restarts ->
            isCached = true;
            cachedAnswer = answer;
#ifdef LATE_VERSION
            cachedVersion = version
#else
            cachedVersion = before
#endif
          :: else -> token = 0
          fi
        }
     fi;
     assert(answer >= token); /* no answer older than its token */
     atomic { token = 0; answer = 0; before = 0; life = 0 }
  :: atomic { asked >= QUESTIONS -> break }
  od
}

/* When nothing can happen any more: the feed has followed every change. */
active proctype Observer() {
  timeout -> assert(seen == visible)
}

init {
  atomic {
    run Leader();
#ifdef SEQUENCE
    run Leader();
#endif
    run Feed();
    run Caller();
    run Caller()
  }
}
