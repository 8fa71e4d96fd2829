import { engine, openWithEngine } from './conversations.ts'
import { expect } from './forge.ts'
import { seeding } from './seeding.ts'

export const pull = `${engine}/pulls/1`
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)

const seed = seeding('ben', async (work) => {
  const story = Array.from({ length: 30 }, (_, index) => `${index} upon a time\n`).join('')
  const main = await work.commit('Begin', { 'mill.txt': `${lines(20).join('\n')}\n`, 'gone.txt': 'gone\n', 'old.txt': story })
  await work.git('mv', 'old.txt', 'moved.txt')
  await work.git('rm', '--quiet', 'gone.txt')
  const middle = await work.commit('Move', { 'new.txt': 'new\n', 'blob.bin': Buffer.from([0, 1, 2, 255]) })
  const changed = lines(20).with(1, 'LINE 2').toSpliced(15, 0, 'between')
  return { middle, branches: { main, topic: await work.commit('Change', { 'mill.txt': `${changed.join('\n')}\n` }) } }
})

/** Ben asks to have his changes of Ada's engine: two hunks of a file, one file that is new, one that goes, and one that moves. */
export async function openWithPull(options?: Parameters<typeof openWithEngine>[0]) {
  const forge = await openWithEngine(options)
  const { desk, work, branches, middle } = await seed(forge, forge.ben)
  await expect(201, await forge.ben.post(`${engine}/pulls`, { title: 'Grind finer', head: 'topic', base: 'main' }))
  return Object.assign(forge, { desk, work, middle, base: branches.main, head: branches.topic })
}
