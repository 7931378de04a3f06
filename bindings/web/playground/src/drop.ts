// What somebody dropped on the page: files, and the logs of sessions in folders.

/** A session's log. */
const LOG = "events.jsonl";
/** Folders below this depth are not looked into, as the command does it. */
const DEEPEST = 32;

/** The files that were dropped; of folders, every session's log, under the name of its folder. */
export async function dropped(transfer: DataTransfer): Promise<File[]> {
  // Both are empty once this function has waited for something.
  const files = [...transfer.files];
  const folders = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry?.isDirectory);
  if (folders.length === 0) return files;
  const names = new Set(folders.map((folder) => folder?.name));
  const found: File[] = [];
  for (const folder of folders) if (folder) await walk(folder as FileSystemDirectoryEntry, DEEPEST, found);
  return [...files.filter(({ name }) => !names.has(name)), ...found];
}

async function walk(folder: FileSystemDirectoryEntry, depth: number, found: File[]): Promise<void> {
  const entries = (await list(folder)).sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.isFile && entry.name === LOG) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.push(new File([file], folder.name));
    } else if (entry.isDirectory && depth > 0) {
      await walk(entry as FileSystemDirectoryEntry, depth - 1, found);
    }
  }
}

/** A browser lists a folder piece by piece, and ends with an empty one. */
async function list(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (piece.length === 0) return all;
    all.push(...piece);
  }
}
