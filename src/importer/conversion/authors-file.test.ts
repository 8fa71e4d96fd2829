import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorLine, correctionsFrom, parseAuthorsFile, withoutEntry } from './authors-file.ts'

const author = (login: string) => ({ remote_id: login, remote_name: login, name: login, email: `${login.length}@svn` })

test('the lines for missing authors read back, also for logins with = and #', () => {
  const authors = ['eve', 'eve=x', '#ops', 'a = b', '(no author)', 'ada <ada@old.example>'].map(author)
  const lines = authors.map((one) => authorLine({ ...one, name: 'New' }))
  const file = parseAuthorsFile(['# A comment', '# key = Somebody <x@example.com>', '', ...lines].join('\n'))
  assert.deepEqual(withoutEntry(file, authors), [])
  assert.deepEqual(
    correctionsFrom(file, authors).map(({ original_email, name, email }) => [original_email, name, email]),
    authors.map(({ email }) => [email, 'New', email]),
  )
  assert.deepEqual(withoutEntry(parseAuthorsFile('eve=x = Eve X <e@x>'), authors.slice(0, 2)), authors.slice(0, 1))
  assert.throws(() => parseAuthorsFile('\nada = Ada'), /^Error: Line 2 of the authors file/)
})
