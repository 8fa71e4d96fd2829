import { openHgBundle, type Wish } from './hg-bundle.ts'

const none = '0'.repeat(40)
const bytes = (text: string) => Buffer.from(text).toString('latin1')

const wall = Buffer.alloc(9 << 20, 'the same again and again\n')

/** Larger than the memory limit for a text. */
export const largeText = (edit = '') => Buffer.concat([wall, Buffer.from(`middle${edit}\n`), wall])

/** A history with every feature of Mercurial. The first line of each message is the number of its changeset. */
export function describeFeatures() {
  const bundle = openHgBundle()
  let last = -1
  const add = (wish: Wish): number => {
    const message = Buffer.from(wish.message ?? '')
    last = bundle.commit({
      time: 1_500_000_000 + last * 100,
      ...wish,
      message: Buffer.concat([Buffer.from(`${last + 1}\n\n`), message]),
    })
    return last
  }
  const tags = (before: number, ...lines: [number | typeof none, string][]) => {
    const old = bundle.tree(before).get('.hgtags')?.text ?? Buffer.alloc(0)
    const added = lines.map(([to, name]) => `${typeof to === 'number' ? bundle.node(to) : to} ${name}\n`)
    return { '.hgtags': Buffer.concat([old, Buffer.from(added.join(''))]) }
  }

  const root = add({
    message: 'the beginning\n\nwith a body: ünïcode',
    user: 'Alice Ärger <alice@example.org>',
    west: -7200,
    set: {
      'readme.txt': 'one\ntwo\nthree\n',
      'src/main.c': 'int main;\n',
      'src/main.h': 'extern int main;\n',
      'latin1-\xe9\xe8.txt': 'a name that is not UTF-8\n',
      [bytes('ünïcödé 日本.txt')]: 'x\n',
      'with space "q" \\b.txt': 'q\n',
      'run.sh': { text: '#!/bin/sh\n', flag: 'x' },
      link: { text: 'run.sh', flag: 'l' },
      'data.bin': Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * at) % 251)),
      empty: '',
      'metadata.bin': '\x01\nbegins like what is not shown',
    },
  })
  add({
    message: 'renamed and edited',
    user: 'bob',
    west: 18000,
    remove: ['run.sh'],
    set: { 'bin/run.sh': { text: '#!/bin/sh\nexit\n', flag: 'x', copied_from: 'run.sh' } },
  })
  add({
    message: 'flags',
    user: 'dmitri@example.org',
    set: { link: { text: 'bin/run.sh', flag: 'l' }, 'bin/run.sh': '#!/bin/sh\nexit\n' },
  })
  const third = add({
    message: 'link to file, file to folder',
    user: 'broken <a@b',
    remove: ['empty'],
    set: { link: 'plain now\n', 'empty/inside.txt': 'in\n' },
  })
  const second_root = add({
    parents: [],
    message: 'another beginning',
    user: '<only@mail>',
    set: { 'other-root.txt': 'unrelated\n' },
  })
  const merged = add({ parents: [third, second_root], message: 'merge of it', set: { 'other-root.txt': 'unrelated\n' } })
  const tagged = add({
    message: 'tags',
    user: 'Greg  <greg@EXAMPLE.org> ',
    set: tags(merged, [root, 'v1.0'], [root, 'moved'], [third, 'gone'], [third, 'bräuche: 1']),
  })
  // A branch with the tags at that time and one more; it has moved another tag more often than its parent.
  const one = add({
    branch: 'feature/one',
    user: 'Eve "E" O\'Neil <eve@x.org>',
    set: tags(tagged, [merged, 'from-branch'], [root, 'both'], [third, 'both'], [root, 'both']),
  })
  const moved = add({
    parents: [tagged],
    message: 'tags moved',
    set: tags(tagged, [root, 'moved'], [third, 'moved'], [third, 'gone'], [none, 'gone'], [root, 'both'], [third, 'both']),
  })
  add({ parents: [moved], branch: 'left', set: { 'left.txt': 'l\n' } })
  const left = add({ branch: 'left', closes: true, message: 'closed, and nowhere merged' })
  add({ parents: [moved], branch: 'done', set: { 'done.txt': 'd\n' } })
  const done = add({ branch: 'done', closes: true, message: 'closed' })
  const back = add({ parents: [moved, done], message: 'and merged', set: { 'done.txt': 'd\n' } })
  const again = add({ parents: [back], branch: 'again', closes: true, message: 'closed' })
  add({ branch: 'again', message: 'opened again', set: { 'again.txt': 'a\n' } })
  const weird = 'weird br~nch: [ü]..x.lock'
  add({ parents: [back], branch: weird, set: { 'w.txt': 'w\n' } })
  const fork = add({ parents: [back], branch: 'two', set: { 'h1.txt': '1\n' } })
  const first_head = add({ branch: 'two', set: { 'h2.txt': '2\n' } })
  add({ parents: [fork], branch: 'two', set: { 'h3.txt': '3\n' } })
  add({ parents: [back], message: 'before the epoch', time: -86400 * 365, set: { 'old.txt': 'o\n' } })
  add({ message: Buffer.from('caf\xe9', 'latin1'), set: { 'readme.txt': 'one\n2\nthree\n' } })
  add({ message: 'folder to file', remove: ['empty/inside.txt'], set: { empty: 'a file again\n' } })
  const large = add({ message: 'large', set: { 'large.txt': largeText() } })
  add({ message: 'large, edited', set: { 'large.txt': largeText(' edited') } })
  add({ message: 'nothing changed' })
  const emptied = add({ parents: [second_root], branch: 'emptied', message: 'all gone', remove: ['other-root.txt'] })
  const forbidden = add({
    parents: [large],
    branch: 'forbidden',
    set: { '.git/config': '[core]\n', 'sub/.GIT/x': 'x\n', 'sub/fine': 'f\n', '.gitmodules': { text: 'x', flag: 'l' } },
  })
  // Old merges could make a path that is both a file and a folder.
  const clash = add({ parents: [second_root], branch: 'clash', set: { 'x/y': 'in the folder\n', 'x.c': 'between\n' } })
  const clashing = add({ branch: 'clash', set: { x: 'the file\n' } })
  const parted = add({ branch: 'clash', remove: ['x'], set: { 'z.c': 'z\n' } })
  // The newest changeset of the default branch.
  const tip = add({ parents: [forbidden - 2], message: 'the end', user: 'Mallory', set: { 'end.txt': 'e\n' } })
  return {
    ...bundle,
    changesets: last + 1,
    at: {
      root,
      third,
      one,
      moved,
      left,
      done,
      again,
      first_head,
      large,
      emptied,
      forbidden,
      clash,
      clashing,
      parted,
      tip,
      weird,
      merged,
    },
    bookmarks: { 'bm/one': bundle.node(tip), 'bm two': bundle.node(third), left: bundle.node(root), '@': bundle.node(tip) },
  }
}

/** A history for measurements: over 300 files, a few changed at a time, with branches and merges. */
export function describeHistory(changesets: number, seed = 7): Buffer {
  const bundle = openHgBundle()
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const words = 'lorem ipsum dolor sit amet consectetur naïve Übergröße 日本語 elit sed'.split(' ')
  const line = () => Array.from({ length: 4 + random(8) }, () => words[random(words.length)]).join(' ')
  const text = (lines: number) => `${Array.from({ length: lines }, line).join('\n')}\n`
  const first = Object.fromEntries(
    Array.from({ length: 300 }, (_, file) => [`dir${file % 15}/file${file}.txt`, text(20 + random(100))]),
  )
  let main = bundle.commit({ set: first })
  let side: number | undefined
  for (let number = 1; number < changesets; number++) {
    const from = side !== undefined && random(2) === 0 ? side : main
    const branch = from === side ? `branch${Math.floor(number / 100)}` : 'default'
    const tree = bundle.tree(from)
    const paths = [...tree.keys()]
    const wish: Wish = {
      parents: [from],
      user: `User ${random(20)} <user${random(20)}@example.org>`,
      time: 1_300_000_000 + number * 3000,
      message: `change ${number}: ${line()}`,
    }
    const set: NonNullable<Wish['set']> = {}
    for (let count = 1 + random(5); count > 0; count--) {
      const path = paths[random(paths.length)] as string
      const lines = (tree.get(path)?.text.toString() ?? '').split('\n')
      lines[random(lines.length)] = line()
      if (random(12) > 0) set[path] = lines.join('\n')
      else set[`dir${random(15)}/new${number}_${count}.txt`] = text(5 + random(45))
    }
    if (side !== undefined && random(30) === 0) {
      const theirs = [...bundle.tree(side)].filter(([path]) => !bundle.tree(main).has(path))
      main = bundle.commit({
        ...wish,
        parents: [main, side],
        branch: 'default',
        set: Object.fromEntries(theirs.map(([path, { text }]) => [path, text])),
      })
      side = undefined
      continue
    }
    const made = bundle.commit({ ...wish, set, ...(branch !== 'default' && { branch }) })
    if (from === main && side === undefined && random(40) === 0) side = made
    else if (from === side) side = made
    else main = made
    if (side !== undefined && made - side > 40) side = undefined
  }
  return bundle.bytes()
}
