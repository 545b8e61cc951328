/* Bets of one pay table settled anew from columns, and nothing checked that only a strange file needs: no
   lookups, no money out of range, nothing in hand. What is left is the work that any way must do. */
#include <stdint.h>

int64_t settle(int64_t from, int64_t to, const uint32_t *area, const uint32_t *faces, const uint32_t *state,
               const uint8_t *voided, const uint32_t *table, const int64_t *stake, const int64_t *kept,
               const int64_t *won, const int64_t *returned, const int64_t *returns, int64_t outcomes,
               int64_t unit, int64_t *bets, int64_t *staked, int64_t *back, int64_t *due) {
    int64_t faults = 0;
    for (int64_t at = from; at < to;) {
        uint32_t one = table[at];
        int64_t many = 0, stakes = 0, got = 0, gives = 0;
        for (; at < to && table[at] == one; at++) {
            if (voided[at] && !state[at]) {
                faults++;
                continue;
            }
            int64_t playing = stake[at] - kept[at];
            int64_t product = playing * returns[area[at] * outcomes + faces[at]];
            int64_t owed = unit == 2 ? product >> 1 : product / unit;
            int64_t above = owed > playing ? owed - playing : 0;
            owed = state[at] ? stake[at] : owed + kept[at];
            above = state[at] ? 0 : above;
            many++, stakes += stake[at], got += returned[at], gives += owed;
            faults += (owed != returned[at]) | (above != won[at]);
        }
        bets[one] += many, staked[one] += stakes, back[one] += got, due[one] += gives;
    }
    return faults;
}
