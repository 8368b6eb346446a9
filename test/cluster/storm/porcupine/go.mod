module keystored/porcupine

go 1.26.0

toolchain go1.26.8

require github.com/anishathalye/porcupine v1.3.1
