// What a browser has and jsdom has not.
import { vi } from "vitest";

vi.stubGlobal("matchMedia", (query: string) => ({ matches: false, media: query, addEventListener: () => undefined, removeEventListener: () => undefined }));
vi.stubGlobal("ResizeObserver", class { observe(): void {} unobserve(): void {} disconnect(): void {} });
HTMLDialogElement.prototype.showModal = function showModal(): void { this.open = true; };
HTMLDialogElement.prototype.close = function close(): void { this.open = false; this.dispatchEvent(new Event("close")); };
