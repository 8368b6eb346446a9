package keystored

// Version of this library, which is the one of the appliance it was made for.
const Version = "0.1.0"
