// What a server sends never becomes a property of all objects, whatever its keys are.
import { expect, it } from "vitest";
import type { AnyChanges, AnyView } from "../src/connection/messages";
import { changed } from "../src/connection/changes";
import { answered, idOf, isOpen } from "../src/pit/unansweredRequests";

const HOSTILE = '{"of":"seat","bets":[],"__proto__":{"isPolluted":true},"constructor":{"prototype":{"isPolluted":true}}}';

it("changes of a view add nothing to other objects", () => {
  const view = changed({ of: "seat", bets: [] } as unknown as AnyView, JSON.parse(HOSTILE) as AnyChanges);
  expect(view.of).toBe("seat");
  expect(({} as Record<string, unknown>)["isPolluted"]).toBeUndefined();
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

it("neither do names under which something is remembered", () => {
  for (const name of ["__proto__", "constructor", "toString"]) {
    idOf(name, () => "an-id");
    answered(name);
  }
  expect(isOpen("another")).toBe(false);
  expect(({} as Record<string, unknown>)["id"]).toBeUndefined();
  expect(typeof {}.toString).toBe("function");
});
