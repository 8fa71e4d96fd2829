import { engine, openWithEngine } from './conversations.ts'
import { expect } from './forge.ts'
import { Desk } from './git.ts'

export const pull = `${engine}/pulls/1`
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)

/** Ben asks to have his changes of Ada's engine: two hunks of a file, one file that is new, one that goes, and one that moves. */
export async function openWithPull() {
  const forge = await openWithEngine()
  const desk = await Desk.open(forge)
  const work = await desk.begin(forge.ben, 'ada/engine')
  const story = Array.from({ length: 30 }, (_, index) => `${index} upon a time\n`).join('')
  const base = await work.commit('Begin', { 'mill.txt': `${lines(20).join('\n')}\n`, 'gone.txt': 'gone\n', 'old.txt': story })
  await work.push('HEAD:main')
  await work.git('mv', 'old.txt', 'moved.txt')
  await work.git('rm', '--quiet', 'gone.txt')
  const middle = await work.commit('Move', { 'new.txt': 'new\n', 'blob.bin': Buffer.from([0, 1, 2, 255]) })
  const changed = lines(20).with(1, 'LINE 2').toSpliced(15, 0, 'between')
  const head = await work.commit('Change', { 'mill.txt': `${changed.join('\n')}\n` })
  await work.push('HEAD:topic')
  await expect(201, await forge.ben.post(`${engine}/pulls`, { title: 'Grind finer', head: 'topic', base: 'main' }))
  return {
    ...forge,
    ...{ desk, work, base, middle, head },
    async [Symbol.asyncDispose]() {
      await desk[Symbol.asyncDispose]()
      await forge[Symbol.asyncDispose]()
    },
  }
}
