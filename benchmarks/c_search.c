/* Breadth-first search around the expansion of one program (program.h, written by c_program.py).

   States are rows of one array in the order of discovery; an open-addressing table of 2^k slots of
   8 bytes refers to them: the top 64 - k bits of the hash and the row number + 1. One thread.
   Prints one line of JSON. */

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef int64_t i64;
typedef uint64_t u64;
struct counters {
  u64 cut, overflows;
};

#include "program.h"

#define CHUNK 32
#define FIRST_BITS 17
#define LOAD 0.7
#define ROWS_RESERVED (1ull << 40) /* bytes of address space; only touched pages use memory */

static const u64 SALT[8] = {0x243F6A8885A308D3, 0x13198A2E03707345, 0xA4093822299F31D1, 0x082EFA98EC4E6C89,
                            0x452821E638D01377, 0xBE5466CF34E90C6D, 0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917};

static u64 *states, *table;
static u64 count, bits = FIRST_BITS;

static inline u64 fold(u64 a, u64 b) {
  const unsigned __int128 p = (unsigned __int128)a * b;
  return (u64)p ^ (u64)(p >> 64);
}

static inline u64 hash(const u64 *row) {
  u64 total = SALT[7];
  for (int k = 0; k < WORDS; k += 2) {
    const u64 low = SALT[k % 8] ^ (u64)(k / 8) << 32, high = SALT[(k + 1) % 8] ^ (u64)((k + 1) / 8) << 32;
    total ^= fold(row[k] ^ low, k + 1 < WORDS ? row[k + 1] ^ high : high);
  }
  return fold(total, SALT[6]);
}

static inline bool same(const u64 *a, const u64 *b) {
  u64 differ = 0;
  for (int k = 0; k < WORDS; k++) differ |= a[k] ^ b[k];
  return !differ;
}

static u64 *new_memory(u64 bytes, bool huge) {
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
#ifdef MADV_HUGEPAGE
  if (huge) madvise(made, bytes, MADV_HUGEPAGE);
#endif
  return made;
}

static inline void insert(const u64 *row, u64 h) {
  const u64 mask = (1ull << bits) - 1;
  for (u64 j = h >> (64 - bits);; j = (j + 1) & mask) {
    const u64 slot = table[j];
    if (!slot) {
      memcpy(states + count * WORDS, row, 8 * WORDS);
      table[j] = (h & ~mask) | ++count;
      return;
    }
    if ((slot ^ h) <= mask && same(states + ((slot & mask) - 1) * WORDS, row)) return;
  }
}

/* Doubles the table until `more` rows fit. A slot knows its home, so states are not read. */
static void make_room(u64 more) {
  while ((double)(count + more) > LOAD * (double)(1ull << bits)) {
    const u64 old_mask = (1ull << bits) - 1, mask = 2 * old_mask + 1;
    u64 *const larger = new_memory(16ull << bits, true);
    for (u64 i = 0; i <= old_mask; i++) {
      const u64 slot = table[i];
      if (!slot) continue;
      u64 j = slot >> (63 - bits);
      while (larger[j]) j = (j + 1) & mask;
      larger[j] = (slot & ~mask) | (slot & old_mask);
    }
    munmap(table, 8ull << bits);
    table = larger;
    bits++;
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
  static u64 hits[CHECKS + 1], fired[CHUNK];
  u64 *const records = malloc(8ull * CHUNK * INSTANCES * WORDS);
  u64 *const hashes = malloc(8ull * CHUNK * INSTANCES);
  struct counters counters = {0, 0};
  u64 generated = sizeof initial / sizeof *initial, deadlocks = 0, depth = 0;
  states = new_memory(ROWS_RESERVED, false);
  table = new_memory(8ull << bits, true);

  const double started = now();
  const clock_t busy = clock();
  for (u64 k = 0; k < sizeof initial / sizeof *initial; k++) insert(initial[k], hash(initial[k]));
  for (u64 low = 0, high = count; low < high; low = high, high = count, depth++) {
    check_states(states, low, high, hits);
    for (u64 at = low; at < high; at += CHUNK) {
      const u64 end = at + CHUNK < high ? at + CHUNK : high;
      make_room(CHUNK * INSTANCES);
      memset(fired, 0, sizeof fired);
      const u64 made = (u64)(expand(states, at, end, records, fired, &counters) - records) / WORDS;
      for (u64 k = 0; k < end - at; k++) generated += fired[k], deadlocks += !fired[k];
      const u64 mask = (1ull << bits) - 1;
      for (u64 k = 0; k < made; k++) {
        hashes[k] = hash(records + k * WORDS);
        __builtin_prefetch(table + (hashes[k] >> (64 - bits)));
      }
      for (u64 k = 0; k < made; k++) {
        const u64 slot = table[hashes[k] >> (64 - bits)];
        const u64 *const row = states + ((slot & mask) - 1) * WORDS;
        if (slot && (slot ^ hashes[k]) <= mask) {
          __builtin_prefetch(row);
          __builtin_prefetch((const char *)row + 8 * WORDS - 1);
        }
      }
      for (u64 k = 0; k < made; k++) insert(records + k * WORDS, hashes[k]);
    }
  }
  const double seconds = now() - started;
  const double cpu = (double)(clock() - busy) / CLOCKS_PER_SEC;

  u64 checks_hit = 0;
  for (int k = 0; k < CHECKS; k++) checks_hit += hits[k] != 0;
  printf("{\"generated\": %llu, \"distinct\": %llu, \"depth\": %llu, \"cut\": %llu, \"deadlocks\": %llu, "
         "\"overflows\": %llu, \"checks_hit\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, "
         "\"store_bytes_per_state\": %.1f}\n",
         (unsigned long long)generated, (unsigned long long)count, (unsigned long long)depth,
         (unsigned long long)counters.cut, (unsigned long long)deadlocks, (unsigned long long)counters.overflows,
         (unsigned long long)checks_hit, seconds, cpu,
         (double)(8 * WORDS * count + (8ull << bits)) / (double)count);
  return 0;
}
