/* Rounds of a mix of two nets with their maximum drawdown: the same streams, the same lanes, the same figures
   as taisai's own kernel, as a compiler for C makes them. */
#include <stdint.h>
#include <string.h>

#define LANES 256
#define STEPS 4096
#define WARMING 15

static uint64_t scrambled(uint64_t w) {
    w = (w ^ (w >> 30)) * 0xBF58476D1CE4E5B9ull;
    w = (w ^ (w >> 27)) * 0x94D049BB133111EBull;
    return w ^ (w >> 31);
}

#define DRAW(counter)                          \
    uint32_t drawn = x + y + (counter);        \
    x = y ^ (y >> 9);                          \
    y = z + (z << 3);                          \
    z = ((z << 21) | (z >> 11)) + drawn;

static void steps(uint32_t counter, uint32_t limit, uint32_t end, int32_t v0, int32_t v1, uint32_t *restrict a,
                  uint32_t *restrict b, uint32_t *restrict c, int32_t *restrict net, int32_t *restrict high,
                  int32_t *restrict low, int32_t *restrict fall, int32_t *restrict missed) {
    for (int lane = 0; lane < LANES; lane++) {
        uint32_t x = a[lane], y = b[lane], z = c[lane];
        int32_t at = net[lane], up = high[lane], down = low[lane], deep = fall[lane], gone = missed[lane];
#define ROUND(k)                                               \
    {                                                          \
        DRAW(counter + (k))                                    \
        int32_t more = -(int32_t)(drawn >= limit);             \
        int32_t none = -(int32_t)(drawn >= end);               \
        at += (v0 + (more & (v1 - v0))) & ~none;               \
        gone -= none;                                          \
        up = at > up ? at : up;                                \
        down = at < down ? at : down;                          \
        int32_t now = up - at;                                 \
        deep = now > deep ? now : deep;                        \
    }
        ROUND(0) ROUND(1) ROUND(2) ROUND(3)
        a[lane] = x, b[lane] = y, c[lane] = z;
        net[lane] = at, high[lane] = up, low[lane] = down, fall[lane] = deep, missed[lane] = gone;
    }
}

void walk(const uint64_t *key, int64_t first, int64_t chunks, uint32_t limit, uint32_t end, int32_t v0,
          int32_t v1, int64_t *out) {
    uint32_t a[LANES], b[LANES], c[LANES];
    int32_t net[LANES], high[LANES], low[LANES], fall[LANES], missed[LANES];
    int64_t sum = 0, top = 0, bottom = 0, deepest = 0;
    for (int64_t chunk = first; chunk < first + chunks; chunk++) {
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t number = (uint64_t)chunk * LANES + lane;
            uint64_t one = scrambled(key[0] + scrambled(number ^ key[1]));
            uint64_t two = scrambled(key[2] + scrambled(number ^ key[3]));
            uint32_t x = (uint32_t)one, y = (uint32_t)(one >> 32), z = (uint32_t)two;
            for (uint32_t counter = 1; counter <= WARMING; counter++) {
                DRAW(counter)
            }
            a[lane] = x, b[lane] = y, c[lane] = z;
        }
        memset(net, 0, sizeof net), memset(high, 0, sizeof high), memset(low, 0, sizeof low);
        memset(fall, 0, sizeof fall), memset(missed, 0, sizeof missed);
        for (uint32_t step = 0; step < STEPS; step += 4)
            steps(WARMING + 1 + step, limit, end, v0, v1, a, b, c, net, high, low, fall, missed);
        for (int lane = 0; lane < LANES; lane++) {
            uint32_t x = a[lane], y = b[lane], z = c[lane], counter = WARMING + 1 + STEPS;
            while (missed[lane]) {
                DRAW(counter)
                counter++;
                if (drawn >= end) continue;
                missed[lane]--;
                net[lane] += drawn >= limit ? v1 : v0;
                if (net[lane] > high[lane]) high[lane] = net[lane];
                if (net[lane] < low[lane]) low[lane] = net[lane];
                if (high[lane] - net[lane] > fall[lane]) fall[lane] = high[lane] - net[lane];
            }
            if (fall[lane] > deepest) deepest = fall[lane];
            if (top - sum - low[lane] > deepest) deepest = top - sum - low[lane];
            if (sum + high[lane] > top) top = sum + high[lane];
            if (sum + low[lane] < bottom) bottom = sum + low[lane];
            sum += net[lane];
        }
    }
    out[0] = sum, out[1] = top, out[2] = bottom, out[3] = deepest;
}
