// A device's own key. The browser creates and keeps it; the server knows only the public half.
const FOLDER = "taisai-devices";
const SIGNS = "taisai device 1";

export interface DeviceKey {
  /** The public half in hexadecimal, which an administrator enrols. */
  open: string;
  secret: CryptoKey;
}

const asHex = (buffer: ArrayBuffer) =>
  Array.from(new Uint8Array(buffer), (one) => one.toString(16).padStart(2, "0")).join("");
const asBytes = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** The database of this browser's device keys. Scripts can use a private key but cannot read it. */
function opened(): Promise<IDBDatabase> {
  return new Promise((done, failed) => {
    const asked = indexedDB.open(FOLDER, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("keys");
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error ?? new Error("the browser refuses to store the key"));
  });
}

async function kept<T>(mode: IDBTransactionMode, work: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const folder = await opened();
  try {
    return await new Promise<T>((done, failed) => {
      const asked = work(folder.transaction("keys", mode).objectStore("keys"));
      asked.onsuccess = () => done(asked.result);
      asked.onerror = () => failed(asked.error ?? new Error("expected the key to be kept, got a fault"));
    });
  } finally {
    folder.close();
  }
}

/** The key with this name, created if it does not exist. It survives a reload or a crash. */
export async function deviceKey(name: string): Promise<DeviceKey> {
  const known = await kept<DeviceKey | undefined>("readonly", (keys) => keys.get(name));
  if (known) return known;
  const pair = (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  const made = { open: asHex(await crypto.subtle.exportKey("raw", pair.publicKey)), secret: pair.privateKey };
  await kept("readwrite", (keys) => keys.put(made, name));
  return made;
}

/** The signature over the server's challenge, which proves the device's identity. */
export async function signature(device: string, key: CryptoKey, nonce: string): Promise<string> {
  const says = new TextEncoder().encode(`${SIGNS}\n${device}\n`);
  const text = new Uint8Array([...says, ...asBytes(nonce)]);
  return asHex(await crypto.subtle.sign("Ed25519", key, text));
}
