// Reloads a page that is older than the server's pages, once for each newer build.
const REMEMBERED = "taisai-reloaded-for";

const mine = (): string => document.querySelector<HTMLMetaElement>('meta[name="taisai-pages"]')?.content ?? "";

export function isStale(served: string): boolean {
  return served !== "" && mine() !== "" && served !== mine() && sessionStorage.getItem(REMEMBERED) !== served;
}

export function reloadOnce(served: string): void {
  sessionStorage.setItem(REMEMBERED, served);
  location.reload();
}
