import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { importersOf, testsOf } from '../run/changed.ts'
import { kindOf, root, sizeOf, testFiles } from '../run/files.ts'

/** Seconds for the tests of a fault, as they are recorded. */
const budget = { fast: 90, slow: 120 }

/** The tests that should find a fault in a file: those of its name, then the nearest first, and the slow ones at the end. */
export function nearTests(file: string, fast: boolean): string[] {
  const near = nearestFirst(file)
  const taken = fast ? (['fast'] as const) : (['fast', 'slow'] as const)
  const chosen = taken.flatMap((kind) =>
    withinBudget(
      near.filter((test) => kindOf(test) === kind),
      budget[kind],
    ),
  )
  const isOwn = (test: string) => test.startsWith(file.slice(0, -'ts'.length))
  return [...chosen.filter(isOwn), ...chosen.filter((test) => !isOwn(test))]
}

function withinBudget(tests: string[], budget: number) {
  let seconds = 0
  return tests.filter((test) => {
    const began = seconds
    seconds += sizeOf(test)[0]
    return began < budget
  })
}

/** Those of the file, of its noun, of its texts and addresses, of the files that import it, and of what imports those. */
function nearestFirst(file: string) {
  const noun = nounOf(file)
  const importers = importersOf([file])
  const [importing, further] = [importers, importersOf(importers)].map((files) => files.flatMap(testsBeside))
  const own = (importing ?? []).filter((test) => test.startsWith(`${noun}/`))
  const near = [
    testsBeside(file),
    own,
    testsBelow(noun),
    testsOfTexts(file),
    testsOfAddresses(file),
    importers.filter((importer) => importer.startsWith(`${noun}/`)).flatMap(testsOfAddresses),
    importing ?? [],
    further ?? [],
  ]
  const tests = new Set(near.flatMap(shortestFirst))
  return tests.size ? [...tests] : testsOfUsers(file)
}

/** So that most of them are within the budget. */
const shortestFirst = (tests: string[]) => tests.toSorted((one, other) => sizeOf(one)[0] - sizeOf(other)[0])

/** Read once. */
const known = new Map<string, string>()

function read(file: string) {
  const text = known.get(file) ?? readFileSync(join(root, file), 'utf8')
  known.set(file, text)
  return text
}

/** The tests that send requests to `/users/:login/follow` or `/users/{username}/following`, if the file declares it. */
function testsOfAddresses(file: string) {
  if (!/(pages|api)\.ts$/.test(file)) return []
  const addresses = [...read(file).matchAll(/'(\/[\w/:{}-]+\/[\w-]+)'/g)].map(([, address = '']) =>
    address.replaceAll(/:\w+|\{\w+\}/g, '[^/\\s]+'),
  )
  if (!addresses.length) return []
  const named = new RegExp(`(${addresses.join('|')})['"\`?]`)
  return testFiles().filter((test) => named.test(read(test)))
}

/** The tests that contain a text of the file, such as a message, unless many do. */
function testsOfTexts(file: string) {
  const texts = [...read(file).matchAll(/(?<=['`])[^'`$\n]{12,}(?=['`$])/g)]
    .map(([text]) => text)
    .filter((text) => !/^[#.]/.test(text))
  return texts.flatMap((text) => {
    const tests = testFiles().filter((test) => read(test).includes(text))
    return tests.length > mostNaming ? [] : tests
  })
}
const mostNaming = 5

/** The tests of the nearest files that use a file, by way of others. */
function testsOfUsers(file: string) {
  const seen = new Set([file])
  for (;;) {
    const users = importersOf([...seen]).filter((user) => !seen.has(user))
    const tests = users.flatMap(testsBeside)
    if (tests.length || !users.length) return [...new Set(tests)]
    for (const user of users) seen.add(user)
  }
}

/** Folders of everything: what is beside a file there has nothing to do with it. */
const general = new Set(['src', 'test'])

const testsBeside = (file: string) =>
  testsOf(file).filter((test) => !general.has(dirname(file)) || test === file || test.startsWith(file.slice(0, -2)))

/** `src/hosting/issues` for all files below it. */
const nounOf = (file: string) => dirname(file).split('/').slice(0, 3).join('/')

const testsBelow = (folder: string) => (general.has(folder) ? [] : testFiles().filter((test) => test.startsWith(`${folder}/`)))
