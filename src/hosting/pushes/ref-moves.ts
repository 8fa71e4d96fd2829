import { noObject } from '#git/objects.ts'
import type { Command } from '#git/storage.ts'

/** A push that was begun and is not yet recorded. */
export interface OpenPush {
  id: number
  pusher_id: number
  commands: Command[]
  /** Nothing moves by it any more. */
  over: boolean
}

/** A ref that has moved, and by which push. */
export interface Move extends Command {
  push: OpenPush
  /** The command that asked for it; none when the ref went elsewhere than anyone asked. */
  command: Command | undefined
}

interface Candidate {
  push: OpenPush
  command: Command
}

/** What happened to each ref between the log's knowledge and the disk: the moves that lead from one to the other, in their order. */
export function findMoves(pushes: OpenPush[], known: Map<string, string>, disk: Map<string, string>, names: string[]): Move[] {
  // Of two that asked for the same, the one that is over did it; else the later, for the earlier may have been cut off long ago.
  const ordered = pushes.toSorted((a, b) => Number(b.over) - Number(a.over) || b.id - a.id)
  const candidates = new Map<string, Candidate[]>(names.map((name) => [name, []]))
  for (const push of ordered) for (const command of push.commands) candidates.get(command.ref)?.push({ push, command })
  const chains = names.map((name) =>
    findChain(candidates.get(name) ?? [], known.get(name) ?? noObject, disk.get(name) ?? noObject, name),
  )
  // First moves before second ones, and each push's in the order it named them.
  const longest = chains.reduce((most, { length }) => Math.max(most, length), 0)
  return Array.from({ length: longest }, (_, place) =>
    chains.flatMap((chain) => chain[place] ?? []).sort((a, b) => a.push.id - b.push.id),
  ).flat()
}

function findChain(candidates: Candidate[], from: string, to: string, ref: string): Move[] {
  if (from === to) return []
  const steps = walk(candidates, from, to)
  if (steps) return steps.map(({ push, command }) => ({ ...command, push, command }))
  // It did not start where the log thought: what the log missed comes with the push that arrived.
  const arrived = candidates.find(({ command }) => command.after === to)
  if (arrived) return [{ ref, before: from, after: to, ...arrived }]
  // A hook may have moved it on, in the course of a push.
  const over = candidates.find(({ push, command }) => push.over && command.before !== to)
  return over ? [{ ref, before: from, after: to, push: over.push, command: undefined }] : []
}

/** The shortest way from one value to another along what was asked for. */
function walk(candidates: Candidate[], from: string, to: string): Candidate[] | undefined {
  const cameBy = new Map<string, Candidate>()
  const reached = [from]
  for (const value of reached) {
    for (const candidate of candidates) {
      const { before, after } = candidate.command
      if (before !== value || after === from || cameBy.has(after)) continue
      cameBy.set(after, candidate)
      reached.push(after)
    }
  }
  const steps: Candidate[] = []
  for (let value = to; value !== from; ) {
    const step = cameBy.get(value)
    if (!step) return undefined
    steps.unshift(step)
    value = step.command.before
  }
  return steps
}
