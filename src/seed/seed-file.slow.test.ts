import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { Host } from '#test/process.ts'
import { accessFile } from './access-file.ts'
import { readSeedFile } from './read-seed-file.ts'
import { seedOnce } from './seed-file.ts'

const text = `
users:
  - login: dana
    tokens: [{ name: ci, value: bfp_danas-token-for-tests }]
repositories:
  - name: dana/rocket
    issues: [{ title: It leaks }]
`

test('a seed is loaded once into an empty Belfry, and into no other', async () => {
  await using forge = await openForge()
  const path = join(forge.belfry.settings.BELFRY_DATA, 'seed.yaml')
  const write = (text: string) => {
    writeFileSync(path, text)
    return readSeedFile(path)
  }
  await assert.rejects(seedOnce(forge.belfry, write(`start: 2999-01-01\n${text}`), {}), /in the future\. Change its dates/)
  const seen: number[] = []
  const access = await seedOnce(forge.belfry, write(text), { onProgress: (done, all) => seen.push(done / all) })
  assert.equal(access?.users.dana?.token, 'bfp_danas-token-for-tests')
  assert.equal(seen.at(-1), 1)
  const file = accessFile(forge.belfry)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')).tokens, { ci: 'bfp_danas-token-for-tests' })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(await seedOnce(forge.belfry, write(text), {}), null)
  await assert.rejects(
    seedOnce(forge.belfry, write(`${text}# changed`), {}),
    /another seed than .*Start with another folder in BELFRY_DATA/,
  )
})

test('a Belfry with users, or with a part of a seed, is refused', async () => {
  await using forge = await openForge()
  const data = forge.belfry.settings.BELFRY_DATA
  const path = join(data, 'seed.yaml')
  const vault = '{ name: dana/vault, private: true, stargazers: [eli] }'
  writeFileSync(path, `users: [{ login: dana }, { login: eli }]\nrepositories: [${vault}]`)
  await assert.rejects(seedOnce(forge.belfry, readSeedFile(path), {}), {
    message: /stargazers\[0\]: "eli" has no access to dana\/vault\. .*\nThe database has a part of the seed now\. Start with/,
  })
  await forge.person('ben')
  await assert.rejects(seedOnce(forge.belfry, readSeedFile(path), {}), /did not finish/)
  writeFileSync(join(data, 'seed.json'), JSON.stringify({ digest: '', finished: true }))
  await assert.rejects(seedOnce(forge.belfry, readSeedFile(path), {}), /another seed/)
  assert.throws(() => readSeedFile(join(data, 'none.yaml')), /There is no file .*none\.yaml\. Name the file of the seed/)
})

test('npm start with --seed prints the users and their tokens, which work', async () => {
  await using host = await Host.openUsed()
  const path = join(host.folder, 'seed.yaml')
  writeFileSync(path, 'users: [{ login: dana, nmae: Dana }]')
  const refused = await host.run({ options: ['--seed', path] })
  assert.deepEqual([refused.end, refused.stdout], ['1', ''])
  assert.match(
    refused.stderr,
    /seed\.yaml:1 users\[0\]\.nmae: unknown key "nmae"\. Did you mean "name"\? The keys here are .*\n$/,
  )
  writeFileSync(path, text)
  const belfry = await host.start({ options: ['--seed', path] })
  assert.match(belfry.stdout, /^ {2}dana {14}bfp_danas-token-for-tests$/m)
  const issue = await (await belfry.get('/api/v3/repos/dana/rocket/issues/1', 'bfp_danas-token-for-tests')).json()
  assert.equal((issue as { title: string }).title, 'It leaks')
  assert.equal(await belfry.stop(), '0')
})
