import { testRandomActs } from './random-acts.ts'

testRandomActs({ seed: 1, acts: 20, timelines: 5 })
