module keystored-client

go 1.21
