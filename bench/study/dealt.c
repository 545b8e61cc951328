/* Sessions of a Martingale, and rounds dealt from a shoe: the plainest loops, one draw after the other. */
#include <stdint.h>

typedef struct {
    uint64_t a, b, c, d;
} Draws;

static uint64_t turned(uint64_t word, int by) { return (word << by) | (word >> (64 - by)); }

/* xoshiro256++ */
static inline uint64_t drawn(Draws *s) {
    uint64_t found = turned(s->a + s->d, 23) + s->a, shifted = s->b << 17;
    s->c ^= s->a, s->d ^= s->b, s->b ^= s->c, s->a ^= s->d, s->c ^= shifted, s->d = turned(s->d, 45);
    return found;
}

static Draws seeded(uint64_t seed) {
    uint64_t word[4];
    for (int n = 0; n < 4; n++) {
        uint64_t w = seed += 0x9E3779B97F4A7C15ull;
        w = (w ^ (w >> 30)) * 0xBF58476D1CE4E5B9ull;
        w = (w ^ (w >> 27)) * 0x94D049BB133111EBull;
        word[n] = w ^ (w >> 31);
    }
    return (Draws){word[0], word[1], word[2], word[3]};
}

/* out: how many were ruined, all that was staked, the deepest fall of any */
void sessions(uint64_t seed, int64_t many, int64_t rounds, uint64_t won_below, int64_t least, int64_t most,
              int64_t bankroll, int64_t target, int64_t *out) {
    Draws draws = seeded(seed);
    int64_t ruined = 0, staked = 0, deepest = 0;
    for (int64_t session = 0; session < many; session++) {
        int64_t money = bankroll, top = bankroll, wanted = least;
        for (int64_t round = 0; round < rounds && money >= least && money < target; round++) {
            int64_t stake = wanted < money ? wanted : money / least * least;
            int won = drawn(&draws) < won_below;
            staked += stake;
            money += won ? stake : -stake;
            wanted = won ? least : 2 * wanted < most ? 2 * wanted : most;
            top = money > top ? money : top;
            deepest = top - money > deepest ? top - money : deepest;
        }
        ruined += money < least;
    }
    out[0] = ruined, out[1] = staked, out[2] = deepest;
}

/* The cards lie in `shoe`; whatever order a shoe before left them in is as good as any.
   out: the net, and the deepest fall */
void shoes(uint64_t seed, int64_t many, int64_t rounds, uint8_t *shoe, int64_t cards, const int64_t *nets,
           int64_t *out) {
    Draws draws = seeded(seed);
    int64_t net = 0, top = 0, deepest = 0;
    for (int64_t one = 0; one < many; one++) {
        int64_t dealt = 0;
        for (int64_t round = 0; round < rounds; round++) {
            uint64_t word = drawn(&draws);
            int64_t roll = 0;
            for (int card = 0; card < 3; card++, dealt++) {
                int64_t at = dealt + (int64_t)(((word >> (21 * card) & 0x1FFFFF) * (cards - dealt)) >> 21);
                uint8_t face = shoe[at];
                shoe[at] = shoe[dealt], shoe[dealt] = face;
                roll = roll * 6 + face;
            }
            net += nets[roll];
            top = net > top ? net : top;
            deepest = top - net > deepest ? top - net : deepest;
        }
    }
    out[0] = net, out[1] = deepest;
}
