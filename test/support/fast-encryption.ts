/**
 * Makes this process encrypt with little work for its passphrase: the usual work takes seconds, and tests encrypt and decrypt
 * a hundred times. Other processes do the usual work (`test/archive/create.test.ts`).
 */
import { Encrypter } from "age-encryption";

const setPassphrase = Encrypter.prototype.setPassphrase;
const workFactor = 10;

Encrypter.prototype.setPassphrase = function (passphrase) {
  this.setScryptWorkFactor(workFactor);
  // Files of one worker share the class, so this may run several times.
  setPassphrase.call(this, passphrase);
};
