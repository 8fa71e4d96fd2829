import { testRandomActs } from './random-acts.ts'

testRandomActs({ seed: 1, acts: 40, timelines: 10 })
