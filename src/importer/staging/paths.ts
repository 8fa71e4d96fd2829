/**
 * Whether git refuses a file at this path: `.git`, the names that some file system treats as `.git`, and relative parts. The path is in
 * Latin-1, so that distinct byte sequences stay distinct.
 */
export function isForbiddenPath(path: string): boolean {
  return path.split('/').some((part) => part === '' || part === '.' || part === '..' || isRepository(part))
}

function isRepository(part: string): boolean {
  if (!hasLetters(part.toLowerCase())) return false
  // Code points that macOS ignores in names.
  const plain = Buffer.from(part, 'latin1')
    .toString()
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
  return plain.toLowerCase() === '.git' || part.split('\\').some((piece) => /^(\.git|git~1)[ .]*(:|$)/i.test(piece))
}

/** A quick test that nearly every name ends with. */
function hasLetters(name: string) {
  const first = name.indexOf('g')
  const second = first < 0 ? -1 : name.indexOf('i', first)
  return second >= 0 && name.includes('t', second)
}

/** Whether git refuses a symbolic link at this path, because it reads the file itself. */
export function isForbiddenLink(path: string): boolean {
  return /(^|\/)(\.gitmodules[ .]*|gitmod~[1-4]|gi7eba~[1-9])$/i.test(path)
}
